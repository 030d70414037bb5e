import { besideTables } from '../records/beside-tables.ts';
import { tableNames } from '../records/columns.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { CustomSink } from '../formats/custom-sink.ts';
import { extensions, formats } from '../formats/sink.ts';
import { exportPaths, partExtension, pathIn } from '../../places/export/export-folder.ts';
import { type FileStore, syncFoldersOf } from '../../places/files/file-store.ts';
import { type IdInput, inputWithin } from '../ids/id-input.ts';

export interface ThrownAway {
  readonly files: FileStore;
  readonly folder: string;
  /** What the ids are to be read from. */
  readonly inputs: readonly IdInput[];
  readonly sinks: readonly CustomSink[];
}

/**
 * Removes the files of an export from a folder, and no others. A mark tells a later run that this was interrupted, so that it
 * does not resume an export of which half is gone.
 * @throws {ExportError} `usage` when that is a part of the export
 */
export async function throwAway({ files, folder, inputs, sinks }: ThrownAway): Promise<void> {
  const parts = await partFiles(files, folder, sinks);
  const own = await inputWithin(folder, parts, inputs);
  if (own !== undefined) {
    throw new ExportError('usage', `${own.name} belongs to the export that --fresh would delete`, {
      todo: 'Copy the file elsewhere and read the ids from the copy, or choose another output folder.',
    });
  }
  const mark = pathIn(folder, exportPaths.throwingAway);
  await (await files.open(mark, 'create')).close();
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(pathIn(folder, exportPaths.manifest));
  // As long as there is a manifest, nothing else is gone.
  await files.syncFolder(folder);
  for (const part of parts) await files.remove(pathIn(folder, part));
  for (const name of [
    exportPaths.checkpoint,
    exportPaths.callCount,
    exportPaths.creditCount,
    exportPaths.journals,
    exportPaths.unfinished,
    exportPaths.repairing,
    exportPaths.askedIds,
    exportPaths.asked,
    exportPaths.kept,
    ...exportPaths.companions,
  ]) {
    await files.remove(pathIn(folder, name));
  }
  // A part that came back after a loss of power would mix with those of the next export.
  await syncFoldersOf(
    files,
    folder,
    [exportPaths.manifest, ...parts].map((name) => pathIn(folder, name)),
  );
  await files.syncFolder(pathIn(folder, exportPaths.run));
  await files.remove(mark);
}

/** The files in a folder that are named as parts of an export are, relative to it. */
export async function partFiles(
  files: FileStore,
  folder: string,
  sinks: readonly CustomSink[] = [],
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, extension } of partFolders(sinks)) {
    for (const file of await files.list(pathIn(folder, name))) {
      const path = `${name}/${file}`;
      if (partExtension(file) === extension && (await files.sizeOf(pathIn(folder, path))) !== 'folder')
        found.push(path);
    }
  }
  return found;
}

/** Whether a name, relative to an export, is that of a part's file. */
export function isPartFile(name: string, sinks: readonly CustomSink[]): boolean {
  const at = name.lastIndexOf('/');
  const extension = partExtension(name.slice(at + 1));
  return partFolders(sinks).some((folder) => folder.name === name.slice(0, at) && folder.extension === extension);
}

/** Where files of parts lie, and how their names end. */
function partFolders(sinks: readonly CustomSink[]): { readonly name: string; readonly extension: string }[] {
  const made = [...formats.map((format) => ({ name: format, extension: extensions[format] })), ...sinks];
  const kinds = made.flatMap(({ name, extension }) =>
    tableNames.map((table) => ({ name: `${name}/${table}`, extension })),
  );
  return [...kinds, ...besideTables.map(({ name }) => ({ name, extension: 'csv' }))];
}

/** Whether a run was interrupted while it threw an export away. With a manifest it is complete still: the manifest goes first. */
export async function isThrowingAway(files: FileStore, folder: string): Promise<boolean> {
  const isThere = async (path: string): Promise<boolean> => (await files.sizeOf(pathIn(folder, path))) !== undefined;
  return (await isThere(exportPaths.throwingAway)) && !(await isThere(exportPaths.manifest));
}

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
