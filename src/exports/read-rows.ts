import type { NamedRow } from '../core/records/table.ts';
import { requireAddress } from '../lib/addresses/address.ts';
import { ExportError } from '../lib/export-error.ts';
import type { Reads } from '../places/files/disk.ts';
import { openFinished } from './finished-export.ts';
import { rowFormats } from './block-readers.ts';

/**
 * The rows of one table of a complete export, in the order of the ids. They are read while they are taken: memory holds a
 * row group, or a piece of a file.
 * @throws {ExportError} `usage` when the export has no such table in a format that holds rows, `damaged` when it is not complete
 */
export async function* readRows({
  files,
  folder,
  table = 'assets',
}: {
  readonly files: Reads;
  /** Folder of a complete export. */
  readonly folder: string;
  /** `assets` unless named; also `unexported`. */
  readonly table?: string;
}): AsyncGenerator<NamedRow, void, void> {
  const finished = await openFinished(requireAddress(folder, 'export', 'the folder'), files);
  const holdRows = finished.filesOf(table).filter(({ format }) => format !== 'raw');
  const [best] = holdRows;
  if (best === undefined) {
    throw new ExportError('usage', `${folder} has no rows of the table ${table} in ${rowFormats.join(', ')}`, {
      todo: 'Name a table of the export, or export this table with --tables in one of these formats.',
    });
  }
  const names = finished.tables.get(table)?.columns.map(({ name }) => name) ?? [];
  for (const file of holdRows.filter(({ format }) => format === best.format)) {
    for await (const rows of finished.rows(file)) {
      for (const row of rows) yield Object.fromEntries(names.map((name, index) => [name, row[index] ?? null]));
    }
  }
}
