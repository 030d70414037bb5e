import { tableNames } from '../assets/columns.ts';
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
  const folders = formats.flatMap((format) => tableNames.map((table) => `${format}/${table}`));
  for (const name of [...folders, 'unexported']) {
    const path = pathIn(folder, name);
    for (const file of await files.list(path)) {
      if (/^part-\d{5,}\./.test(file)) await files.remove(pathIn(folder, `${name}/${file}`));
    }
  }
  for (const name of [exportPaths.checkpoint, exportPaths.callCount, exportPaths.journals, exportPaths.unfinished]) {
    await files.remove(pathIn(folder, name));
  }
  await files.syncFolder(folder);
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(mark);
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
