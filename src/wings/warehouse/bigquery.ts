import type { Column, ColumnType, Table } from '../../core/records/table.ts';
import { escapedBackQuoted, escapedLiteral } from '../../lib/sql-text.ts';
import { folderOf, nullTextOf, type Source, within } from '../../exports/duckdb-files.ts';
import { aboutTable, columnList, createTableText, type Engine, typeIn } from './engine.ts';

/** JSON stays text: BigQuery's JSON type keeps numbers as INT64, UINT64 or FLOAT64 and refuses others. */
const types: Readonly<Record<ColumnType, string>> = {
  string: 'STRING',
  boolean: 'BOOL',
  int64: 'INT64',
  double: 'FLOAT64',
  decimal: 'NUMERIC(20, 0)',
  json: 'STRING',
  timestamp: 'TIMESTAMP',
};

export const bigquery: Engine = {
  types,
  // A row that is loaded has at most 100 MB (cloud.google.com/bigquery/quotas#load_jobs): its error names 104,857,600 bytes.
  longestText: 100_000_000,
  note: '-- The default dataset must be set; files are read from Cloud Storage (gs://…).\n',
  clusters: { mostColumns: 4, without: ['double'] },
  createTable: (table, cluster = []) =>
    createTableText(table, {
      quoteName: escapedBackQuoted,
      typeOf: typeIn(types),
      described: (about) => `OPTIONS(description = ${escapedLiteral(about)})`,
      suffix: `${cluster.length === 0 ? '' : `\nCLUSTER BY ${cluster.map(escapedBackQuoted).join(', ')}`}\nOPTIONS(description = ${escapedLiteral(aboutTable(table))})`,
    }),
  load: (source) => loads[source.format](source),
};

const loads: Readonly<Record<Source['format'], (source: Source) => string>> = {
  parquet: (source) => `LOAD DATA INTO ${escapedBackQuoted(source.table.name)}
FROM FILES (format = 'PARQUET', uris = [${urisOf(source)}]);
`,
  // With the default null marker an empty cell is null and "" the empty string.
  csv: (source) => `LOAD DATA INTO ${escapedBackQuoted(source.table.name)}
FROM FILES (
  format = 'CSV', uris = [${urisOf(source)}],
  skip_leading_rows = 1, allow_quoted_newlines = true, preserve_ascii_control_characters = true${nullTextOf(source) === '' ? '' : `, null_marker = ${escapedLiteral(nullTextOf(source))}`}
);
`,
  // Json columns are values in JSONL, which only the JSON type takes.
  jsonl: (source) => `-- Numbers inside json columns are rounded to 64 bits here: csv and parquet keep every digit.
LOAD DATA INTO TEMP TABLE incoming (
${columnList(source.table, (column) => `${escapedBackQuoted(column.name)} ${incomingType(column)}`)}
)
FROM FILES (format = 'JSON', uris = [${urisOf(source)}]);
INSERT INTO ${escapedBackQuoted(source.table.name)} (
${namesOf(source.table)}
)
SELECT
${columnList(source.table, selected)}
FROM incoming;
DROP TABLE incoming;
`,
};

function namesOf(table: Table): string {
  return columnList(table, (column) => escapedBackQuoted(column.name));
}

function incomingType(column: Column): string {
  return column.type === 'json' ? 'JSON' : types[column.type];
}

function selected(column: Column): string {
  return column.type === 'json'
    ? `NULLIF(TO_JSON_STRING(${escapedBackQuoted(column.name)}), 'null')`
    : escapedBackQuoted(column.name);
}

/** The most files that a job takes by name. */
const mostUris = 10_000;

/** The files where they are known, else a pattern, which takes one asterisk only. */
function urisOf(source: Source): string {
  const { folder, files = [] } = source;
  const isPattern = files.length === 0 || files.length > mostUris;
  const uris = isPattern ? [`${folderOf(source)}part-*`] : files.map((file) => within(folder, file));
  return uris.map(escapedLiteral).join(',\n  ');
}
