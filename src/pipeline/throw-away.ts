import { tableNames } from '../assets/columns.ts';
import { formats } from '../sinks/sink.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';

/** Removes what an export left in a folder, and nothing else that lies there. */
export async function throwAway(files: FileStore, folder: string): Promise<void> {
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
}
