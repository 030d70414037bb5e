import type { Table, ColumnType } from '../core/records/table.ts';
import { type CsvDialectName, csvDialects } from '../core/formats/sink.ts';
import type { FileCodec } from '../lib/decompress.ts';
import { doubleQuoted, literal } from '../lib/sql-text.ts';

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

/** JSON stays text: DuckDB's JSON type refuses a lone surrogate's escape, and its functions take text as well. */
export const duckdbTypes: Readonly<Record<ColumnType, string>> = {
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  int64: 'BIGINT',
  double: 'DOUBLE',
  decimal: 'DECIMAL(20, 0)',
  json: 'VARCHAR',
  timestamp: 'TIMESTAMPTZ',
};

/** Longest line of a CSV file and largest row of a JSONL file that is read, in bytes; DuckDB's own are 2 and 16 MB. */
export const longestRowBytes = 64 * 1024 * 1024;

/**
 * Calls the function that reads the files. DuckDB would take a folder `key=value` for a column of that name.
 * @param longestRow in bytes; DuckDB takes several times as much memory for its buffers
 * @param csvBuffer in bytes, at least `longestRow`; DuckDB's own are 16 times as large as that
 */
export function tableFunctionOf(source: Source, longestRow = longestRowBytes, csvBuffer?: number): string {
  const start = `${readers[source.format]}(${filesIn(source)}, hive_partitioning = false`;
  if (source.format === 'parquet') return `${start})`;
  if (source.format === 'csv') {
    // An empty cell is null and "" the empty string: quoted text is never read as null.
    return `${start},
  auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
  nullstr = ${literal(nullTextOf(source))}, allow_quoted_nulls = false, max_line_size = ${longestRow},${csvBuffer === undefined ? '' : ` buffer_size = ${csvBuffer},`}
  ${columnsIn(source.table, duckdbTypes)})`;
  }
  // As VARCHAR a text in a json column would lose its quotes.
  return `${start},
  format = 'newline_delimited', maximum_object_size = ${longestRow},
  ${columnsIn(source.table, { ...duckdbTypes, json: 'JSON' })})`;
}

const readers: Readonly<Record<Source['format'], string>> = {
  parquet: 'read_parquet',
  csv: 'read_csv',
  jsonl: 'read_json',
};

/** The files that are known, in their order, or the pattern for them. */
function filesIn(source: Source): string {
  const { folder, files } = source;
  if (files === undefined) return literal(filesOf({ ...source, folder: escaped(folder) }));
  return `[\n${files.map((file) => `    ${literal(escaped(within(folder, file)))}`).join(',\n')}\n  ]`;
}

/** DuckDB reads every path as a pattern. */
function escaped(path: string): string {
  return path.replaceAll(/[[*?]/g, '[$&]');
}

function columnsIn(table: Table, typeNames: typeof duckdbTypes): string {
  const entries = table.columns.map(({ name, type }) => `    ${doubleQuoted(name)}: ${literal(typeNames[type])}`);
  return `columns = {\n${entries.join(',\n')}\n  }`;
}
