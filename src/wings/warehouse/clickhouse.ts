import { type Column, type ColumnType, isListColumn, type Table } from '../../core/records/table.ts';
import { backQuoted, escapedLiteral } from '../../lib/sql-text.ts';
import { filesOf, nullTextOf, type Source } from '../../exports/table-source.ts';
import { createTableText, type Dialect, type ColumnTypes, listTypeIn } from './dialect.ts';

const types: Readonly<Record<ColumnType, string>> = {
  string: 'String',
  boolean: 'Bool',
  int64: 'Int64',
  double: 'Float64',
  decimal: 'Decimal(20, 0)',
  json: 'String',
  timestamp: "DateTime64(6, 'UTC')",
};

export const clickhouse: Dialect = {
  types,
  createTable: (table) =>
    createTableText(table, {
      quoteName: backQuoted,
      typeOf,
      suffix: `\nENGINE = MergeTree\nORDER BY ${sortKey(table)}`,
    }),
  load: (source) => `-- Run this in clickhouse-client. It reads files from its own machine.
INSERT INTO ${backQuoted(source.table.name)} FROM INFILE ${escapedLiteral(filesOf(source))}
${settingsOf(source)}FORMAT ${formatNames[source.format]};
`,
};

const formatNames: Readonly<Record<Source['format'], string>> = {
  parquet: 'Parquet',
  csv: 'CSVWithNames',
  jsonl: 'JSONEachRow',
};

const settings: Readonly<Record<Source['format'], (source: Source) => readonly string[]>> = {
  parquet: () => [],
  // By default it cuts blanks at both ends of bare cells, and reads a bare \N as null.
  csv: (source) => [
    'input_format_csv_trim_whitespaces = 0',
    `format_csv_null_representation = ${escapedLiteral(nullTextOf(source))}`,
    ...timeSetting(source),
  ],
  // Json columns are values. So their text is kept, except that a string loses its quotes.
  jsonl: (source) => [
    'input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1',
    'input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1',
    ...timeSetting(source),
  ],
};

function timeSetting({ table }: Source): string[] {
  return table.columns.some(({ type }) => type === 'timestamp') ? ["date_time_input_format = 'best_effort'"] : [];
}

/** The columns that are never null; a job may have left them all out. */
function sortKey({ columns }: Table): string {
  const names = columns.filter(({ nullable }) => !nullable).map(({ name }) => backQuoted(name));
  return names.length === 0 ? 'tuple()' : `(${names.join(', ')})`;
}

function settingsOf(source: Source): string {
  const own = settings[source.format](source);
  return own.length === 0 ? '' : `SETTINGS${own.length > 1 ? '\n  ' : ' '}${own.join(',\n  ')}\n`;
}

/** An array is never null there: a list that is null loads as an empty one. */
const listType: ColumnTypes['listType'] = (members) =>
  `Array(Tuple(${members.map(({ name, type }) => `${backQuoted(name)} Nullable(${type})`).join(', ')}))`;

function typeOf(column: Column): string {
  if (isListColumn(column)) return listTypeIn({ types, listType }, column);
  return column.nullable ? `Nullable(${types[column.type]})` : types[column.type];
}
