import { existsSync, lstatSync } from 'node:fs';
import { link, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ExportError } from '../../lib/export-error.ts';
import { type LinkKind, onDisk, refusesLinks, withoutLinks } from '../../lib/disk/on-disk.ts';

/**
 * Sees that files and the links that are needed can be made in a folder, or the folder itself where it is not there yet. Leaves
 * nothing behind.
 * @returns whether the folder exists
 * @throws {ExportError} `cannotWrite`
 */
export async function probeFolder(folder: string, kind: LinkKind): Promise<boolean> {
  const top = nearestThere(folder);
  if (top !== folder && isLink(folder))
    throw new ExportError('cannotWrite', `${folder} is a link that leads nowhere`, {
      todo: 'Make its target, or choose another folder.',
    });
  await onDisk(`write to ${top}`, async () => {
    const made = await mkdtemp(join(top, '.asset-export-check-'));
    try {
      const file = join(made, 'file');
      await writeFile(file, 'probe');
      await (kind === 'hard' ? link : symlink)(file, join(made, 'link')).catch((error: unknown) => {
        throw refusesLinks(error) ? withoutLinks(top, kind) : error;
      });
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  });
  return top === folder;
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

function nearestThere(folder: string): string {
  const parent = dirname(folder);
  return existsSync(folder) || parent === folder ? folder : nearestThere(parent);
}
