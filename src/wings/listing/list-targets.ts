import { basename, join } from 'node:path';
import { formOfName } from '../../core/ids/id-input.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import { listFolder, type ListIdsRequest } from './list-request.ts';

/**
 * Looks at the places of a list and of its records before anything is paid for.
 * @throws {ExportError} `usage` for what could not take them at the end
 */
export async function requireTargets(
  { out, records }: Pick<ListIdsRequest, 'out' | 'records'>,
  files: FileStore,
): Promise<void> {
  const { format } = formOfName(out);
  if (format !== 'lines' && format !== 'csv')
    throw new ExportError('usage', `--out ${out} would be read as ${format}, and a list is lines of text`, {
      todo: 'Name a file that ends with .txt, .txt.gz or .txt.zst.',
    });
  if ((await files.sizeOf(out)) === 'folder')
    throw new ExportError('usage', `--out ${out} is a folder, and a list is a file`, {
      todo: `Name a file in it, for example ${join(out, 'mints.txt')}.`,
    });
  if (records !== undefined) await requireFolder(records, out, files);
}

async function requireFolder(records: string, out: string, files: FileStore): Promise<void> {
  const pages = listFolder(out);
  const problem =
    records === out
      ? 'is --out'
      : records === pages || records.startsWith(pathIn(pages, ''))
        ? `is in ${pages}, where the pages are kept`
        : typeof (await files.sizeOf(records)) === 'number'
          ? 'is a file'
          : undefined;
  if (problem === undefined) return;
  throw new ExportError('usage', `--records ${records} ${problem}`, {
    todo: `Name a new folder for the records of ${basename(out)}.`,
  });
}

/**
 * A list that has asked for nothing yet makes its records in a new folder.
 * @throws {ExportError} `usage` when an export is there: it is known before anything is paid for
 */
export async function requireNoExport(folder: string, files: FileStore): Promise<void> {
  for (const name of [exportPaths.manifest, exportPaths.start])
    if ((await files.sizeOf(pathIn(folder, name))) !== undefined)
      throw new ExportError('usage', `an export is in ${folder} already`, {
        todo: 'Name another folder with --records, or start over with --fresh, which deletes it.',
      });
}
