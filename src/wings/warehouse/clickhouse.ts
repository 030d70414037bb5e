import type { Column, ColumnType, Table } from '../../core/records/table.ts';
import { escapedBackQuoted, escapedLiteral } from '../../lib/sql-text.ts';
import { filesOf, nullTextOf, type Source, type TableFormat } from '../../exports/duckdb-files.ts';
import {
  type BucketScheme,
  bucketAddressOf,
  encodedAddress,
  isBucketAddress,
} from '../../lib/addresses/address-kinds.ts';
import { aboutTable, createTableText, type Engine } from './engine.ts';

const types: Readonly<Record<ColumnType, string>> = {
  string: 'String',
  boolean: 'Bool',
  int64: 'Int64',
  double: 'Float64',
  decimal: 'Decimal(20, 0)',
  json: 'String',
  timestamp: "DateTime64(6, 'UTC')",
};

export const clickhouse: Engine = {
  types,
  note: '-- Run this in clickhouse-client. It reads folders of its own machine, and buckets.\n',
  clusters: {},
  createTable: (table, cluster = []) =>
    createTableText(table, {
      quoteName: escapedBackQuoted,
      typeOf: clickhouseType,
      described: (about) => `COMMENT ${escapedLiteral(about)}`,
      suffix: `\nENGINE = MergeTree ORDER BY ${cluster.length === 0 ? sortKey(table) : `(${cluster.map(escapedBackQuoted).join(', ')})\nSETTINGS allow_nullable_key = 1`}\nCOMMENT ${escapedLiteral(aboutTable(table))}`,
    }),
  load: (source) =>
    isBucketAddress(source.folder)
      ? `INSERT INTO ${escapedBackQuoted(source.table.name)} (${namesOf(source.table)})
SELECT ${namesOf(source.table)} FROM ${clickhouseFiles(source.table, filesOf(source), source.format)}
${settingsOf(source).trimEnd()};
`
      : `INSERT INTO ${escapedBackQuoted(source.table.name)} (${namesOf(source.table)})
FROM INFILE ${escapedLiteral(plainBraces(filesOf(source)))}${behind(settingsOf(source))}FORMAT ${formatNames[source.format]};
`,
};

/** The function that reads files, with the types that they have. */
/** Azure's function takes other arguments. */
const tableFunctions = { s3: 's3', gs: 'gcs' } as const satisfies Readonly<Record<Exclude<BucketScheme, 'az'>, string>>;

export function clickhouseFiles({ columns: known }: Table, path: string, format: TableFormat = 'parquet'): string {
  const columns = known.map((column) => `${escapedBackQuoted(column.name)} ${clickhouseType(column)}`);
  const rest = [formatNames[format], columns.join(', ')].map(escapedLiteral);
  const files = plainBraces(path);
  const bucket = bucketAddressOf(files);
  if (bucket === undefined) return `file(${[escapedLiteral(files), ...rest].join(', ')})`;
  const { scheme, names, path: inside } = bucket;
  const address = encodedAddress(files);
  if (scheme !== 'az') return `${tableFunctions[scheme]}(${[escapedLiteral(address), ...rest].join(', ')})`;
  const [name = '', container = ''] = names;
  const account = [`https://${name}.blob.core.windows.net`, container, inside];
  return `azureBlobStorage(${[...account.map(escapedLiteral), rest[0], "'auto'", rest[1]].join(', ')})`;
}

/** A brace of a folder's name stands for alternatives there, and nothing escapes it; a question mark stands for any character. */
function plainBraces(path: string): string {
  return path.replaceAll(/[{}]/g, '?');
}

function namesOf({ columns }: Table): string {
  return columns.map(({ name }) => escapedBackQuoted(name)).join(', ');
}

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
  const names = columns.filter(({ nullable }) => !nullable).map(({ name }) => escapedBackQuoted(name));
  return names.length === 0 ? 'tuple()' : `(${names.join(', ')})`;
}

function settingsOf(source: Source): string {
  const own = settings[source.format](source);
  return own.length === 0 ? '' : `SETTINGS${own.length > 1 ? '\n  ' : ' '}${own.join(',\n  ')}\n`;
}

function behind(settings: string): string {
  return settings === '' ? ' ' : `\n${settings}`;
}

export function clickhouseType(column: Column): string {
  return column.nullable ? `Nullable(${types[column.type]})` : types[column.type];
}
