import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import type { Format } from '../../src/core/formats/sink.ts';
import type { Column, Table } from '../../src/core/records/table.ts';
import { queryDuckdb, sqlName, sqlText } from './query-duckdb.ts';

/**
 * A value as text, alike for every format: digits of a number as they are (a double in JavaScript's shortest form),
 * `true` and `false`, JSON compact with every digit kept, strings untouched; null apart from the empty string.
 */
export type TextRow = readonly (string | null)[];

export interface ReadTable {
  /** As the files name them. */
  readonly columns: readonly string[];
  /** In the order of parts and of rows in them, cells in the order of the columns. */
  readonly rows: readonly TextRow[];
}

/** Each format that holds rows. */
export type TableFormat = Exclude<Format, 'raw'>;

/**
 * Reads all files of a table of an export with DuckDB, to compare what the formats hold.
 * @throws {Error} when DuckDB refuses a file, or one names other columns than the table has.
 */
export async function readTable(exportFolder: string, format: TableFormat, table: Table): Promise<ReadTable> {
  const folder = join(exportFolder, format, table.name);
  const rows: TextRow[] = [];
  for (const name of (await readdir(folder)).sort()) {
    for (const row of await readers[format](join(folder, name), table)) rows.push(row);
  }
  return { columns: table.columns.map(({ name }) => name), rows };
}

/** Reads one file of a table. */
export function readTableFile(file: string, format: TableFormat, table: Table): Promise<TextRow[]> {
  return readers[format](file, table);
}

const readers: Readonly<Record<TableFormat, (file: string, table: Table) => Promise<TextRow[]>>> = {
  parquet: readParquet,
  csv: readCsv,
  jsonl: readJsonl,
};

async function readParquet(file: string, table: Table): Promise<TextRow[]> {
  const named = await queryDuckdb(`SELECT column_name FROM (DESCRIBE SELECT * FROM read_parquet(${sqlText(file)}))`);
  checkColumns(
    file,
    table,
    named.map(([name]) => name),
  );
  const cells = table.columns.map(({ name, type }) => parquetCell(sqlName(name), type));
  const rows = await queryDuckdb(`SELECT ${cells.join(', ')} FROM read_parquet(${sqlText(file)})`);
  return rows.map((row) => table.columns.map((column, index) => cellText(column, row[index])));
}

/** Doubles and timestamps come back as such: DuckDB's text of them differs from ours. */
function parquetCell(name: string, type: Column['type']): string {
  if (type === 'double') return name;
  return type === 'timestamp' ? `epoch_us(${name})` : `CAST(${name} AS VARCHAR)`;
}

/** Microseconds since 1970 as CSV and JSONL write them. */
export function isoText(us: bigint): string {
  const inMs = ((us % 1000n) + 1000n) % 1000n;
  const ms = Number((us - inMs) / 1000n);
  return new Date(ms).toISOString().replace('Z', `${String(inMs).padStart(3, '0')}Z`);
}

async function readCsv(file: string, table: Table): Promise<TextRow[]> {
  const types = table.columns.map((_, index) => `c${index}: 'VARCHAR'`);
  const rows = await queryDuckdb(
    `SELECT * FROM read_csv(${sqlText(file)}, auto_detect = false, header = false, columns = {${types.join(', ')}}, ` +
      `delim = ',', quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, strict_mode = true, ` +
      `max_line_size = 16777216, buffer_size = 67108864, parallel = false)`,
  );
  checkColumns(file, table, rows.shift() ?? []);
  return rows.map((row) => table.columns.map((column, index) => cellText(column, row[index])));
}

async function readJsonl(file: string, table: Table): Promise<TextRow[]> {
  const lines = await queryDuckdb(
    `SELECT CAST(json AS VARCHAR) FROM read_ndjson_objects(${sqlText(file)}, maximum_object_size = 67108864)`,
  );
  return lines.map(([line]) => {
    const row = parse(String(line)) as Record<string, unknown>;
    checkColumns(file, table, Object.keys(row));
    return table.columns.map((column) => memberText(column, row[column.name]));
  });
}

function memberText(column: Column, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (column.type === 'json') return stringify(value) ?? null;
  return cellText(column, isLosslessNumber(value) ? value.toString() : value);
}

function cellText({ name, type }: Column, value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (type === 'double') return doubleText(Number(value));
  if (type === 'timestamp' && typeof value === 'bigint') return isoText(value);
  if (typeof value !== 'string' && typeof value !== 'boolean') throw new Error(`${name} holds a ${typeof value}`);
  return type === 'json' ? (stringify(parse(String(value), null, keepDigits)) ?? null) : String(value);
}

function keepDigits(digits: string): LosslessNumber {
  return new LosslessNumber(digits);
}

function doubleText(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

function checkColumns(file: string, table: Table, names: readonly unknown[]): void {
  const expected = table.columns.map(({ name }) => name);
  if (expected.join() !== names.join()) throw new Error(`${file} has the columns ${names.join()}`);
}
