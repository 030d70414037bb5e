import type { Column, ColumnType, Table } from '../../core/records/table.ts';
import type { FileCodec } from '../../lib/decompress.ts';
import { type CsvDialectName, csvDialects } from '../../lib/csv-dialect.ts';

/** The formats that hold tables; raw files hold records. */
export const tableFormats = ['parquet', 'csv', 'jsonl'] as const;
export type TableFormat = (typeof tableFormats)[number];

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

/** What one warehouse makes of the column table. */
export interface Dialect {
  readonly types: Readonly<Record<ColumnType, string>>;
  /** The statement that creates the table. */
  createTable(table: Table): string;
  /** The statements that load the files of a table, and the comments that say what to set. */
  load(source: Source): string;
}

export interface TableStyle {
  readonly quoteName: (name: string) => string;
  readonly typeOf: (column: Column) => string;
  /** What follows the closing parenthesis. */
  readonly suffix?: string;
}

/** A `create table` with a comment behind each column, which every dialect takes. */
export function createTableText(table: Table, { quoteName, typeOf, suffix = '' }: TableStyle): string {
  const last = table.key === undefined ? table.columns.length - 1 : -1;
  const cells = table.columns.map((column, index) => [
    quoteName(column.name),
    typeOf(column) + (index === last ? '' : ','),
    `-- ${column.about}`,
  ]);
  const lines = alignedLines(cells).map((line) => `  ${line}\n`);
  const key = table.key === undefined ? '' : `  PRIMARY KEY (${table.key.map(quoteName).join(', ')})\n`;
  return `CREATE TABLE ${quoteName(table.name)} (\n${lines.join('')}${key})${suffix};\n`;
}

/** The types of one warehouse. */
export interface ColumnTypes {
  readonly types: Readonly<Record<ColumnType, string>>;
  /** The type of a list of structs, as Parquet holds it, from the names and types of its members. */
  readonly listType: (members: readonly { readonly name: string; readonly type: string }[]) => string;
}

/** A column's type, with NOT NULL where the column is never null. */
export function typeIn(known: ColumnTypes): (column: Column) => string {
  return (column) => (isListColumn(column) ? listTypeIn(known, column) : known.types[column.type] + notNull(column));
}

export function listTypeIn({ types, listType }: ColumnTypes, { elements = [] }: Column): string {
  return listType(elements.map(({ name, type }) => ({ name, type: types[type] })));
}

/** Whether Parquet holds a list of structs there. */
export function isListColumn({ elements }: Column): boolean {
  return elements !== undefined;
}

export function hasLists({ columns }: Table): boolean {
  return columns.some(isListColumn);
}

function notNull({ nullable }: Column): string {
  return nullable ? '' : ' NOT NULL';
}

/** The names of a table's columns, or what is made of each, one a line. */
export function columnList(table: Table, textOf: (column: Column) => string, indent = '  '): string {
  return table.columns.map((column) => indent + textOf(column)).join(',\n');
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

export function doubleQuoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function backQuoted(name: string): string {
  return `\`${name.replaceAll('`', '\\`')}\``;
}

/** A string literal of standard SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** A string literal where a backslash escapes. */
export function escapedLiteral(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join(' '),
  );
}
