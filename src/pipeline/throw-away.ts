import { tableNames } from '../assets/columns.ts';
import { sinkFor } from '../sinks/registry.ts';
import { formats } from '../sinks/sink.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';

/**
 * Removes what an export left in a folder, and nothing else that lies there. A mark tells a later run of one that was
 * interrupted, which must not go on with an export of which a half is gone.
 */
export async function throwAway(files: FileStore, folder: string): Promise<void> {
  const mark = pathIn(folder, exportPaths.throwingAway);
  await (await files.open(mark, 'create')).close();
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(pathIn(folder, exportPaths.manifest));
  for (const format of formats) {
    for (const table of tableNames)
      await removeParts(files, folder, { name: `${format}/${table}`, extension: sinkFor(format).extension });
  }
  await removeParts(files, folder, { name: 'unexported', extension: 'csv' });
  for (const name of [exportPaths.checkpoint, exportPaths.callCount, exportPaths.journals, exportPaths.unfinished]) {
    await files.remove(pathIn(folder, name));
  }
  await files.syncFolder(folder);
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(mark);
}

async function removeParts(
  files: FileStore,
  folder: string,
  { name, extension }: { readonly name: string; readonly extension: string },
): Promise<void> {
  for (const file of await files.list(pathIn(folder, name))) {
    const path = pathIn(folder, `${name}/${file}`);
    const [, ending] = /^part-\d{5,}\.([a-z]+)(\.gz|\.zst)?$/.exec(file) ?? [];
    if (ending === extension && (await files.sizeOf(path)) !== 'folder') await files.remove(path);
  }
}

/** Whether a run was interrupted while it threw an export away. */
export async function isThrowingAway(files: FileStore, folder: string): Promise<boolean> {
  return (await files.sizeOf(pathIn(folder, exportPaths.throwingAway))) !== undefined;
}

/** Removes what a complete export needs no more: all of `.run` but the lock. */
export async function clearRun(files: FileStore, folder: string): Promise<void> {
  for (const name of await files.list(pathIn(folder, exportPaths.run))) {
    if (`${exportPaths.run}/${name}` !== exportPaths.lock)
      await files.remove(pathIn(folder, `${exportPaths.run}/${name}`));
  }
}
