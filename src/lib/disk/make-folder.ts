import { constants, existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onDisk } from './disk-error.ts';
import { codeOf } from '../export-error.ts';

/**
 * Makes a folder and those above it, with the permissions `mode`; when it resolves they survive a loss of power.
 * One folder at a time: Node's recursive mkdir never returns where none can be made (/proc), and names the wrong cause.
 * Other processes may make the same ones: a missing parent may exist by now, so one more attempt decides.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    if (!existsSync(parent)) await makeFolder(parent, mode);
    await makeOne(path, mode);
  }
}

async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a folder for what is needed for a while. The caller removes it. @throws {ExportError} `cannotWrite` */
export function makeTemporary(what: string): Promise<string> {
  const folder = tmpdir();
  return onDisk(`make a folder in ${folder} (TMPDIR)`, () => mkdtemp(join(folder, `asset-export-${what}-`)));
}

/** Makes new names in a folder survive a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    // Some network file systems know no syncing of folders, and keep names by themselves.
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error;
  } finally {
    await folder.close();
  }
}
