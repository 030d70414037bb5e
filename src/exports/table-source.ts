import type { Table } from '../core/records/table.ts';
import { type CsvDialectName, csvDialects } from '../lib/csv-dialect.ts';
import type { FileCodec } from '../lib/decompress.ts';

/** The formats that databases and the report read: a further one is loaded by none of them. Raw files hold records. */
export const tableFormats = ['parquet', 'csv', 'jsonl'] as const;
export type TableFormat = (typeof tableFormats)[number];

/** The files of one table, for a database that reads them. */
export interface Source {
  readonly table: Table;
  readonly format: TableFormat;
  /** Where the export lies for the warehouse: a folder, a bucket's address, a stage. */
  readonly folder: string;
  /** Dialect of the CSV files; default: RFC 4180. */
  readonly csvDialect?: CsvDialectName;
  /** The codec around CSV and JSONL files, where it is known. */
  readonly codec?: FileCodec | undefined;
  /** The files, relative to the folder, where they are known: else a pattern stands for them. */
  readonly files?: readonly string[];
}

/** What stands for null in the CSV files. */
export function nullTextOf({ csvDialect = 'rfc4180' }: Source): string {
  return csvDialects[csvDialect].nullText;
}

/** The files of a table: `folder/csv/assets/part-*.csv*`, compressed or not. */
export function filesOf(source: Source): string {
  return `${folderOf(source)}part-*.${source.format}${source.format === 'parquet' ? '' : '*'}`;
}

/** The folder of a table's files, with a closing slash. The table that takes them may have another name than theirs. */
export function folderOf({ table, format, folder, files = [] }: Source): string {
  const [file = `${format}/${table.name}/`] = files;
  return within(folder, file.slice(0, file.lastIndexOf('/') + 1));
}

/** Where a path lies within a folder, which may be an address. */
export function within(folder: string, path: string): string {
  return `${folder.endsWith('/') ? folder.slice(0, -1) : folder}/${path}`;
}
