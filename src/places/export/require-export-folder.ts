import { ExportError } from '../../lib/export-error.ts';
import type { ObjectStore } from '../objects/object-store.ts';
import { exportPaths } from './export-folder.ts';

/** What the local service keeps in `.run` before an export begins. */
const ofTheService = [exportPaths.ledgers, exportPaths.embedded];

/** A new volume has this folder. */
const ofTheDisk = 'lost+found/';

/**
 * An export goes into a folder or prefix of its own: among other files its parts would be hard to find, and `--fresh` might take one of them
 * for its own. Files whose names begin with a dot do no harm.
 * @throws {ExportError} `usage` where other files lie and no export
 */
export async function requireExportFolder(store: ObjectStore, address: string): Promise<void> {
  const isComplete = async (): Promise<boolean> => (await store.look(exportPaths.manifest)) !== undefined;
  if (await isComplete()) return;
  for await (const name of store.names(`${exportPaths.run}/`))
    if (!ofTheService.some((kept) => `${exportPaths.run}/${name}`.startsWith(kept))) return;
  const found = await firstFile(store, '', (name) => name.startsWith('.') || name === ofTheDisk);
  // Another process may have completed the export since.
  if (found === undefined || (await isComplete())) return;
  throw new ExportError('usage', `${address} is not an export and not empty: it contains ${found}`, {
    todo: `Choose a new or empty ${store.isShared ? 'prefix' : 'folder'} with --out or output.dir.`,
  });
}

/** The first file below a folder; of an interrupted `--fresh` empty folders are left. */
async function firstFile(
  store: ObjectStore,
  folder: string,
  ignored: (name: string) => boolean = () => false,
): Promise<string | undefined> {
  for await (const name of store.names(folder)) {
    if (ignored(name)) continue;
    if (!name.endsWith('/')) return `${folder}${name}`;
    const below = await firstFile(store, `${folder}${name}`);
    if (below !== undefined) return below;
  }
  return undefined;
}
