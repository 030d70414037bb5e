import type { ColumnType, Table } from '../assets/table.ts';
import {
  columnList,
  type ColumnTypes,
  createTableText,
  type Dialect,
  doubleQuoted,
  filesOf,
  literal,
  nullTextOf,
  type Source,
  typeIn,
} from './dialect.ts';

/** JSON stays text: DuckDB's JSON type refuses a lone surrogate's escape, and its functions take text as well. */
const types: Readonly<Record<ColumnType, string>> = {
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  int64: 'BIGINT',
  double: 'DOUBLE',
  decimal: 'DECIMAL(20, 0)',
  json: 'VARCHAR',
  timestamp: 'TIMESTAMPTZ',
};

const columnTypes: ColumnTypes = {
  types,
  listType: (members) => `STRUCT(${members.map(({ name, type }) => `${doubleQuoted(name)} ${type}`).join(', ')})[]`,
};

/** Longest line of a CSV file and largest row of a JSONL file that is read, in bytes; DuckDB's own are 2 and 16 MB. */
const longestRowBytes = 64 * 1024 * 1024;

export const duckdb: Dialect = {
  title: 'DuckDB',
  types,
  createTable: (table) => createTableText(table, { quoteName: doubleQuoted, typeOf: typeIn(columnTypes) }),
  load: (source) => `INSERT INTO ${doubleQuoted(source.table.name)} BY NAME\nSELECT * FROM ${readerOf(source)};\n`,
};

function readerOf(source: Source): string {
  const files = literal(filesOf(source));
  if (source.format === 'parquet') return `read_parquet(${files})`;
  const columns = `columns = {\n${typeEntries(source.table)}\n  }`;
  if (source.format === 'csv') {
    // An empty cell is null and "" the empty string: quoted text is never read as null.
    return `read_csv(${files},
  auto_detect = false, header = true, delim = ',', quote = '"', escape = '"',
  nullstr = ${literal(nullTextOf(source))}, allow_quoted_nulls = false, max_line_size = ${longestRowBytes},
  ${columns})`;
  }
  return `read_json(${files},
  format = 'newline_delimited', maximum_object_size = ${longestRowBytes},
  ${columns})`;
}

function typeEntries(table: Table): string {
  return columnList(table, (column) => `${doubleQuoted(column.name)}: ${literal(types[column.type])}`, '    ');
}
