import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import type { FileStore } from '../files/file-store.ts';

/** What the local service keeps in `.run` before an export begins. */
const ofTheService = ['ledger', 'ledger-locks', 'embedded'];

/** A new volume has this folder. */
const ofTheDisk = 'lost+found';

/**
 * An export goes into a folder of its own: among other files its parts would be hard to find, and `--fresh` might take one of them for
 * its own. Files whose names begin with a dot do no harm.
 * @throws {ExportError} `usage` when a folder holds files and no export
 */
export async function requireExportFolder(files: FileStore, folder: string): Promise<void> {
  const names = await files.list(folder);
  if (names.includes(exportPaths.manifest)) return;
  const kept = await files.list(pathIn(folder, exportPaths.run));
  if (kept.some((name) => !ofTheService.includes(name))) return;
  const found = await firstFile(files, folder, (name) => name.startsWith('.') || name === ofTheDisk);
  if (found === undefined) return;
  throw new ExportError('usage', `${folder} is not an export and not empty: it contains ${found}`, {
    todo: 'Choose a new or empty folder with --out or output.dir.',
  });
}

/** The first file below a folder, relative to it; of an interrupted `--fresh` empty folders are left. */
async function firstFile(
  files: FileStore,
  folder: string,
  ignored: (name: string) => boolean = () => false,
): Promise<string | undefined> {
  for (const name of await files.list(folder)) {
    if (ignored(name)) continue;
    const path = pathIn(folder, name);
    if ((await files.sizeOf(path)) !== 'folder') return name;
    const below = await firstFile(files, path);
    if (below !== undefined) return `${name}/${below}`;
  }
  return undefined;
}

/** Whether an export has left something of itself in `.run`. */
export async function hasBegun(files: FileStore, folder: string): Promise<boolean> {
  const names = await files.list(pathIn(folder, exportPaths.run));
  const own = [exportPaths.checkpoint, exportPaths.journals, exportPaths.callCount, exportPaths.throwingAway];
  return names.some((name) => own.some((path) => path === `${exportPaths.run}/${name}`));
}
