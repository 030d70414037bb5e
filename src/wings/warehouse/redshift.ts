import { type Column, type ColumnType, isTextColumn } from '../../core/records/table.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { folderOf, nullTextOf, type Source } from '../../exports/duckdb-files.ts';
import { columnList, commentsOn, createTableText, type Engine, typeIn } from './engine.ts';

/** Bytes of the longest VARCHAR there is: COPY refuses a longer value rather than cut it. */
const longestText = 65_535;
const text = `VARCHAR(${longestText})`;

const types: Readonly<Record<ColumnType, string>> = {
  string: text,
  boolean: 'BOOLEAN',
  int64: 'BIGINT',
  double: 'DOUBLE PRECISION',
  decimal: 'DECIMAL(20, 0)',
  json: text,
  timestamp: 'TIMESTAMP',
};

/** VARCHAR of a width that twice the longest value fits in: queries take memory by the width. */
function typeOf(column: Column): string {
  if (!isTextColumn(column) || column.maxBytes === undefined) return typeIn(types)(column);
  const width = Math.max(64, 2 ** Math.ceil(Math.log2(2 * column.maxBytes)));
  return `VARCHAR(${Math.min(width, longestText)})${column.nullable ? '' : ' NOT NULL'}`;
}

export const redshift: Engine = {
  types,
  longestText,
  clusters: {},
  createTable: (table, cluster = []) =>
    createTableText(table, {
      quoteName: doubleQuoted,
      typeOf,
      suffix: cluster.length === 0 ? '' : `\nSORTKEY (${cluster.map(doubleQuoted).join(', ')})`,
    }),
  describe: (table) => commentsOn(table, doubleQuoted),
  note: '-- Files are read from S3 (s3://…); compressed csv and jsonl need GZIP or ZSTD at the end.\n',
  load: (source) => loads[source.format](source),
};

const loads: Readonly<Record<Source['format'], (source: Source) => string>> = {
  parquet: (source) => `COPY ${doubleQuoted(source.table.name)}
FROM ${literal(`${folderOf(source)}part-`)}
IAM_ROLE default
FORMAT PARQUET;
`,
  // Without EMPTYASNULL every null text would load as the empty string.
  csv: (
    source,
  ) => `${nullTextOf(source) === '' ? '-- Where null and the empty string must stay apart, write CSV with csv.dialect: redshift, or load parquet.\n' : ''}COPY ${doubleQuoted(source.table.name)} (
${columnList(source.table, (column) => doubleQuoted(column.name))}
)
FROM ${literal(`${folderOf(source)}part-`)}
IAM_ROLE default
FORMAT CSV IGNOREHEADER 1${nullTextOf(source) === '' ? ' EMPTYASNULL' : ` NULL AS ${literal(nullTextOf(source))}`}${timeFormat(source)};
`,
  // Json columns are values in JSONL, which only SUPER takes.
  jsonl: (source) => `-- Numbers inside json columns are read into SUPER here: parquet keeps every digit.
CREATE TEMP TABLE incoming (
${columnList(source.table, (column) => `${doubleQuoted(column.name)} ${incomingType(column)}`)}
);
COPY incoming
FROM ${literal(`${folderOf(source)}part-`)}
IAM_ROLE default
FORMAT AS JSON 'auto';
INSERT INTO ${doubleQuoted(source.table.name)}
SELECT
${columnList(source.table, selected)}
FROM incoming;
DROP TABLE incoming;
`,
};

/** COPY reads ISO 8601 with microseconds when it may guess. */
function timeFormat({ table }: Source): string {
  return table.columns.some(({ type }) => type === 'timestamp') ? " TIMEFORMAT 'auto'" : '';
}

function incomingType(column: Column): string {
  return column.type === 'json' ? 'SUPER' : types[column.type];
}

function selected(column: Column): string {
  return column.type === 'json'
    ? `NULLIF(JSON_SERIALIZE(${doubleQuoted(column.name)}), 'null')`
    : doubleQuoted(column.name);
}
