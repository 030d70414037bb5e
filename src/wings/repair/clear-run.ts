import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';

/** Whether a repair was stopped and left answers and counts to resume from. */
export async function awaitsRepair(files: FileStore, folder: string): Promise<boolean> {
  return (await files.sizeOf(pathIn(folder, exportPaths.repairing))) !== undefined;
}

/** Removes what a complete export needs no more: all of `.run` but the lock and its socket. */
export async function clearRun(files: FileStore, folder: string): Promise<void> {
  for (const name of await files.list(pathIn(folder, exportPaths.run))) {
    const path = `${exportPaths.run}/${name}`;
    if (path !== exportPaths.lock && !path.startsWith(exportPaths.lockSocket('')))
      await files.remove(pathIn(folder, path));
  }
}
