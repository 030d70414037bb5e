import type { Column, ColumnType } from '../../core/records/table.ts';
import { doubleQuoted, escapedLiteral, literal } from '../../lib/sql-text.ts';
import { folderOf, nullTextOf, type Source } from '../../exports/duckdb-files.ts';
import { aboutTable, columnList, createTableText, type Engine, typeIn } from './engine.ts';

/** JSON stays text: a VARIANT keeps fractions as doubles. PARSE_JSON reads it where it is used. */
const types: Readonly<Record<ColumnType, string>> = {
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  int64: 'NUMBER(19, 0)',
  double: 'FLOAT',
  decimal: 'NUMBER(20, 0)',
  json: 'VARCHAR',
  timestamp: 'TIMESTAMP_TZ(6)',
};

/** Words that no bare name may be (Snowflake's reserved keywords, and those refused as names of columns). */
const reserved = new Set(
  `account all alter and any as between by case cast check column connect connection constraint create cross current
  current_date current_time current_timestamp current_user database delete distinct drop else exists false following for
  from full grant group gscluster having ilike in increment inner insert intersect into is issue join lateral left like
  localtime localtimestamp minus natural not null of on or order organization qualify regexp revoke right rlike row rows
  sample schema select set some start table tablesample then to trigger true try_cast union unique update using values
  view when whenever where with`.split(/\s+/),
);

/**
 * Names stay unquoted, because quoted names would stay lower case. Reserved words, and names with odd characters, are quoted in
 * the case of unquoted names.
 */
export function snowflakeName(name: string): string {
  const isBare = /^[a-z_][\w$]*$/i.test(name) && !reserved.has(name.toLowerCase());
  return isBare ? name : doubleQuoted(name.toUpperCase());
}

export const snowflake: Engine = {
  types,
  // Of VARCHAR without a length, in characters (docs.snowflake.com/en/sql-reference/data-types-text).
  longestText: 16_777_216,
  clusters: {},
  createTable: (table, cluster = []) =>
    createTableText(table, {
      quoteName: snowflakeName,
      typeOf: typeIn(types),
      described: (about) => `COMMENT ${literal(about)}`,
      suffix: `${cluster.length === 0 ? '' : `\nCLUSTER BY (${cluster.map(snowflakeName).join(', ')})`}\nCOMMENT = ${literal(aboutTable(table))}`,
    }),
  note: '-- The folder is a stage (@stage/…); files get there by PUT.\n',
  load: (source) => loads[source.format](source),
};

/** The files of one COPY, which takes 1,000 names; none where a folder is read. */
const mostNames = 1000;

const loads: Readonly<Record<Source['format'], (source: Source) => string>> = {
  // Without the logical type Snowflake reads microseconds as another unit: years around 55,000,000.
  parquet: (source) =>
    copies(snowflakeName(source.table.name), source, [
      'FILE_FORMAT = (TYPE = PARQUET USE_LOGICAL_TYPE = TRUE)',
      'MATCH_BY_COLUMN_NAME = CASE_INSENSITIVE',
    ]),
  // An empty cell is null, "" the empty string, and a backslash is only a backslash.
  csv: (source) =>
    copies(
      `${snowflakeName(source.table.name)} (
${columnList(source.table, (column) => snowflakeName(column.name))}
)`,
      source,
      [
        `FILE_FORMAT = (
  TYPE = CSV SKIP_HEADER = 1 FIELD_OPTIONALLY_ENCLOSED_BY = '"' EMPTY_FIELD_AS_NULL = TRUE NULL_IF = (${nullTextOf(source) === '' ? '' : escapedLiteral(nullTextOf(source))})
  ESCAPE = NONE ESCAPE_UNENCLOSED_FIELD = NONE ENCODING = 'UTF8'
)`,
      ],
    ),
  jsonl: (source) => `-- Fractions inside json columns become doubles here: csv and parquet keep every digit.
CREATE OR REPLACE TEMPORARY TABLE incoming (line VARIANT);
${copies('incoming', source, ['FILE_FORMAT = (TYPE = JSON)'])}INSERT INTO ${snowflakeName(source.table.name)} (
${columnList(source.table, (column) => snowflakeName(column.name))}
)
SELECT
${columnList(source.table, selected)}
FROM incoming;
DROP TABLE incoming;
`,
};

/** A file that is named is loaded whole, or nothing of its COPY is. */
function copies(into: string, source: Source, options: readonly string[]): string {
  const names = (source.files ?? []).map((file) => file.slice(file.lastIndexOf('/') + 1));
  const groups = Array.from({ length: Math.ceil(names.length / mostNames) }, (_, n) =>
    names.slice(n * mostNames, (n + 1) * mostNames),
  );
  const copy = (lines: readonly string[]): string =>
    `${[`COPY INTO ${into} FROM ${stageOf(source)}`, ...lines, ...options].join('\n')};\n`;
  if (groups.length === 0) return copy([]);
  return groups
    .map((group) => {
      const files = `FILES = (${group.map(literal).join(',\n  ')})`;
      return copy([files]).replace(/;\n$/, '\nFORCE = TRUE ON_ERROR = ABORT_STATEMENT;\n');
    })
    .join('');
}

function selected(column: Column): string {
  const member = reserved.has(column.name.toLowerCase()) ? doubleQuoted(column.name) : column.name;
  const value = `line:${member}`;
  return column.type === 'json' ? `TO_JSON(STRIP_NULL_VALUE(${value}))` : `${value}::${types[column.type]}`;
}

/** A stage's path stands bare; one with odd characters, or an address, must be quoted. */
function stageOf(source: Source): string {
  const folder = folderOf(source);
  return /^@[\w@%~./-]+$/.test(folder) ? folder : escapedLiteral(folder);
}
