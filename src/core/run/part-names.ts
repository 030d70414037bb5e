import { partExtension, pathIn } from '../../places/export/export-folder.ts';
import { besideTables } from '../records/beside-tables.ts';
import { tableNames } from '../records/columns.ts';
import type { CustomSink } from '../formats/custom-sink.ts';
import { extensions, formats } from '../formats/sink.ts';
import type { FileStore } from '../../places/files/file-store.ts';

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
