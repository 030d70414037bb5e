import { tableNames } from '../assets/columns.ts';
import { sinkFor } from '../sinks/registry.ts';
import { ExportError } from '../lib/export-error.ts';
import { formats } from '../sinks/sink.ts';
import { exportPaths, partExtension, pathIn } from '../store/export-folder.ts';
import { type FileStore, syncFoldersOf } from '../store/file-store.ts';
import { type IdInput, inputWithin } from './read-ids/id-input.ts';

/**
 * Removes what an export left in a folder, and nothing else that lies there. A mark tells a later run of one that was
 * interrupted, which must not go on with an export of which a half is gone.
 * @param inputs what the ids are to be read from
 * @throws {ExportError} `usage` when that is a part of the export
 */
export async function throwAway(files: FileStore, folder: string, inputs: readonly IdInput[]): Promise<void> {
  const parts = await partFiles(files, folder);
  const own = await inputWithin(folder, parts, inputs);
  if (own !== undefined) {
    throw new ExportError('usage', `${own.name} is a part of the export that --fresh throws away`, {
      todo: 'Copy it elsewhere and read the ids from the copy, or choose another output folder.',
    });
  }
  const mark = pathIn(folder, exportPaths.throwingAway);
  await (await files.open(mark, 'create')).close();
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(pathIn(folder, exportPaths.manifest));
  for (const part of parts) await files.remove(pathIn(folder, part));
  for (const name of [
    exportPaths.checkpoint,
    exportPaths.callCount,
    exportPaths.creditCount,
    exportPaths.journals,
    exportPaths.unfinished,
    exportPaths.repairing,
  ]) {
    await files.remove(pathIn(folder, name));
  }
  // A part that came back after a loss of power would lie beside those of the next export.
  await syncFoldersOf(
    files,
    folder,
    [exportPaths.manifest, ...parts].map((name) => pathIn(folder, name)),
  );
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(mark);
}

/** The files in a folder that are named as parts of an export are, relative to it. */
export async function partFiles(files: FileStore, folder: string): Promise<string[]> {
  const kinds = formats.flatMap((format) =>
    tableNames.map((table) => ({ name: `${format}/${table}`, extension: sinkFor(format).extension })),
  );
  const found: string[] = [];
  for (const { name, extension } of [...kinds, { name: 'unexported', extension: 'csv' }]) {
    for (const file of await files.list(pathIn(folder, name))) {
      const path = `${name}/${file}`;
      if (partExtension(file) === extension && (await files.sizeOf(pathIn(folder, path))) !== 'folder')
        found.push(path);
    }
  }
  return found;
}

/** Whether an export has left something of itself in `.run`. */
export async function hasBegun(files: FileStore, folder: string): Promise<boolean> {
  const names = await files.list(pathIn(folder, exportPaths.run));
  const own = [exportPaths.checkpoint, exportPaths.journals, exportPaths.callCount, exportPaths.throwingAway];
  return names.some((name) => own.some((path) => path === `${exportPaths.run}/${name}`));
}

/** Whether a run was interrupted while it threw an export away. */
export async function isThrowingAway(files: FileStore, folder: string): Promise<boolean> {
  return (await files.sizeOf(pathIn(folder, exportPaths.throwingAway))) !== undefined;
}

/** Whether a repair was stopped, and left the answers and counts that it goes on from. */
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
