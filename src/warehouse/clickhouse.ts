import type { Column, ColumnType } from '../assets/table.ts';
import { backQuoted, createTableText, type Dialect, escapedLiteral, filesOf, type Source } from './dialect.ts';

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
  title: 'ClickHouse',
  types,
  createTable: (table) =>
    createTableText(table, {
      quoteName: backQuoted,
      typeOf,
      suffix: `\nENGINE = MergeTree\nORDER BY (${table.columns
        .filter((column) => !column.nullable)
        .map((column) => backQuoted(column.name))
        .join(', ')})`,
    }),
  load: (source) => `-- In clickhouse-client, which reads the files of the machine it runs on.
INSERT INTO ${backQuoted(source.table.name)} FROM INFILE ${escapedLiteral(filesOf(source))}
${settings[source.format]}FORMAT ${formatNames[source.format]};
`,
};

const formatNames: Readonly<Record<Source['format'], string>> = {
  parquet: 'Parquet',
  csv: 'CSVWithNames',
  jsonl: 'JSONEachRow',
};

/** Json columns are values in JSONL: ClickHouse keeps the text of objects, arrays and scalars when told to. */
const settings: Readonly<Record<Source['format'], string>> = {
  parquet: '',
  csv: 'SETTINGS input_format_csv_empty_as_default = 1\n',
  jsonl: `SETTINGS
  input_format_json_read_objects_as_strings = 1, input_format_json_read_arrays_as_strings = 1,
  input_format_json_read_numbers_as_strings = 1, input_format_json_read_bools_as_strings = 1
`,
};

function typeOf(column: Column): string {
  return column.nullable ? `Nullable(${types[column.type]})` : types[column.type];
}
