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

/** Json columns are values in JSONL. With these settings ClickHouse keeps their text, except that a string loses its quotes. */
const settings: Readonly<Record<Source['format'], readonly string[]>> = {
  parquet: [],
  csv: ['input_format_csv_empty_as_default = 1'],
  jsonl: [
    'input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1',
    'input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1',
  ],
};

/** The columns that are never null; a job may have left them all out. */
function sortKey({ columns }: Table): string {
  const names = columns.filter(({ nullable }) => !nullable).map(({ name }) => backQuoted(name));
  return names.length === 0 ? 'tuple()' : `(${names.join(', ')})`;
}

function settingsOf(source: Source): string {
  const nullText = nullTextOf(source);
  const own = [
    ...(source.format === 'csv' && nullText !== ''
      ? [`format_csv_null_representation = ${escapedLiteral(nullText)}`]
      : settings[source.format]),
    ...(source.format !== 'parquet' && source.table.columns.some(({ type }) => type === 'timestamp')
      ? ["date_time_input_format = 'best_effort'"]
      : []),
  ];
  return own.length === 0 ? '' : `SETTINGS${own.length > 1 ? '\n  ' : ' '}${own.join(',\n  ')}\n`;
}

/** An array is never null there: a list that is null loads as an empty one. */
const listType: ColumnTypes['listType'] = (members) =>
  `Array(Tuple(${members.map(({ name, type }) => `${backQuoted(name)} Nullable(${type})`).join(', ')}))`;

function typeOf(column: Column): string {
  if (isListColumn(column)) return listTypeIn({ types, listType }, column);
  return column.nullable ? `Nullable(${types[column.type]})` : types[column.type];
}
