import { partExtension, pathIn } from '../../places/export/export-folder.ts';
import { besideTables } from '../records/beside-tables.ts';
import { tableNames } from '../records/columns.ts';
import { extensions, formats } from '../formats/sink.ts';
import type { Reads } from '../../places/files/disk.ts';

/** Where files of parts lie, and how their names end. */
const partFolders = [
  ...formats.flatMap((format) =>
    tableNames.map((table) => ({ name: `${format}/${table}`, extension: extensions[format] })),
  ),
  ...besideTables.map(({ name }) => ({ name, extension: 'csv' })),
];

/** The files in a folder that are named as parts of an export are, relative to it. */
export async function partFiles(files: Reads, folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const { name, extension } of partFolders) {
    for (const file of await files.list(pathIn(folder, name))) {
      const path = `${name}/${file}`;
      if (partExtension(file) === extension && (await files.sizeOf(pathIn(folder, path))) !== 'folder')
        found.push(path);
    }
  }
  return found;
}

/** Whether a name, relative to an export, is that of a part's file. */
export function isPartFile(name: string): boolean {
  const at = name.lastIndexOf('/');
  const extension = partExtension(name.slice(at + 1));
  return partFolders.some((folder) => folder.name === name.slice(0, at) && folder.extension === extension);
}
