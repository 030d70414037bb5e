import type { Column, ColumnType, Table } from '../../core/records/table.ts';
import { changesTable } from '../../core/records/columns.ts';
import { literal } from '../../lib/sql-text.ts';
import type { Source } from '../../exports/duckdb-files.ts';
import { recordTable } from './scripts/record-table.ts';

/** What one warehouse makes of the column table. */
export interface Engine {
  readonly types: Readonly<Record<ColumnType, string>>;
  /** Bytes of the longest text that a column holds; absent where a record never reaches the limit. */
  readonly longestText?: number;
  /** What to set before the statements are run, as a comment. */
  readonly note?: string;
  /** The statement that creates the table. @param cluster columns that its rows are ordered by, where `clusters` */
  createTable(table: Table, cluster?: readonly string[]): string;
  /** Whether a table may be clustered, and by what. */
  readonly clusters?: { readonly mostColumns?: number; readonly without?: readonly ColumnType[] };
  /** The statements that describe the table and its columns, where the one that creates it cannot. */
  describe?(table: Table): string;
  /** The statements that load the files of a table. */
  load(source: Source): string;
}

export interface TableStyle {
  readonly quoteName: (name: string) => string;
  readonly typeOf: (column: Column) => string;
  /** The description of a column, behind its type. */
  readonly described?: (about: string) => string;
  /** What follows the closing parenthesis. */
  readonly suffix?: string;
}

export function createTableText(table: Table, { quoteName, typeOf, described, suffix = '' }: TableStyle): string {
  const last = table.key === undefined ? table.columns.length - 1 : -1;
  const cells = table.columns.map((column, index) => {
    const type = typeOf(column);
    const texts = described === undefined ? [type] : [type, described(column.about)];
    return [quoteName(column.name), ...texts.with(-1, `${texts.at(-1) ?? ''}${index === last ? '' : ','}`)];
  });
  const lines = alignedLines(cells).map((line) => `  ${line}\n`);
  const key = table.key === undefined ? '' : `  PRIMARY KEY (${table.key.map(quoteName).join(', ')})\n`;
  return `CREATE TABLE ${quoteName(table.name)} (\n${lines.join('')}${key})${suffix};\n`;
}

/** `COMMENT ON` for a table and each of its columns. */
export function commentsOn(table: Table, quoteName: (name: string) => string): string {
  const name = quoteName(table.name);
  const columns = table.columns.map(
    (column) => `COMMENT ON COLUMN ${name}.${quoteName(column.name)} IS ${literal(column.about)};\n`,
  );
  return [`COMMENT ON TABLE ${name} IS ${literal(aboutTable(table))};\n`, ...columns].join('');
}

/** What a row of the table is, as one sentence. */
export function aboutTable({ name, list, where }: Pick<Table, 'name' | 'list' | 'where'>): string {
  if (name === changesTable.name) return 'One row per asset that differs from the export before.';
  if (name === recordTable.name) return 'One row per table that was loaded: which export it holds.';
  if (list === undefined) return 'One row per asset.';
  const elements = `One row per element of ${list.join('.')} of an asset`;
  return where === undefined ? `${elements}, in its order.` : `${elements} whose ${where.member} is ${where.value}.`;
}

/** A column's type, with NOT NULL where the column is never null. */
export function typeIn(types: Readonly<Record<ColumnType, string>>): (column: Column) => string {
  return ({ type, nullable }) => types[type] + (nullable ? '' : ' NOT NULL');
}

/** The names of a table's columns, or what is made of each, one a line. */
export function columnList(table: Table, textOf: (column: Column) => string, indent = '  '): string {
  return table.columns.map((column) => indent + textOf(column)).join(',\n');
}

function alignedLines(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join(' '),
  );
}
