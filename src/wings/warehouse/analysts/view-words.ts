import { backQuoted, doubleQuoted, escapedBackQuoted, literal } from '../../../lib/sql-text.ts';
import { engines, type EngineName } from '../engines.ts';
import type { InPlaceName } from '../in-place/in-place-engines.ts';
import { snowflakeName } from '../snowflake.ts';

/** How an engine writes what a view needs. */
export interface ViewWords {
  readonly quote: (name: string) => string;
  /** The text of a member (or an element, from 0) of JSON in a column; null where there is none, never an error. */
  readonly member: (column: string, step: string | number, ...more: readonly string[]) => string;
  /** Types of columns that an export cannot fill. */
  readonly types: Readonly<Record<ViewType, string>>;
}

export type ViewType = 'string' | 'boolean' | 'int64' | 'json' | 'timestamp';

/** `$.a`, `$[0].a` */
function pathOf(steps: readonly (string | number)[]): string {
  return literal(`$${steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('')}`);
}

const hiveTypes = { string: 'varchar', boolean: 'boolean', int64: 'bigint', json: 'varchar', timestamp: 'timestamp' };

const trino: ViewWords = {
  quote: doubleQuoted,
  member: (column, ...steps) => `json_extract_scalar(${column}, ${pathOf(steps)})`,
  types: { ...hiveTypes, timestamp: 'timestamp(3)' },
};

const spark: ViewWords = {
  quote: backQuoted,
  member: (column, ...steps) => `get_json_object(${column}, ${pathOf(steps)})`,
  types: { ...hiveTypes, string: 'STRING', json: 'STRING' },
};

export const viewWords: Readonly<Record<EngineName | InPlaceName, ViewWords>> = {
  duckdb: {
    quote: doubleQuoted,
    // A lone surrogate's escape is not valid there.
    member: (column, ...steps) =>
      `CASE WHEN json_valid(${column}) THEN json_extract_string(${column}, ${pathOf(steps)}) END`,
    types: engines.duckdb.types,
  },
  postgres: {
    quote: doubleQuoted,
    // The text of a member is refused where any string has the escape of NUL or of a lone surrogate.
    member: (column, ...steps) => {
      const path = steps.map((step) => (typeof step === 'number' ? String(step) : literal(step)));
      const ways = path.map((step, at) => (at === path.length - 1 ? ` ->> ${step}` : ` -> ${step}`)).join('');
      return `CASE WHEN CAST(${column} AS text) !~ '\\\\u(0000|[dD][89a-fA-F])' THEN ${column}${ways} END`;
    },
    types: engines.postgres.types,
  },
  bigquery: {
    quote: escapedBackQuoted,
    member: (column, ...steps) => `JSON_VALUE(${column}, ${pathOf(steps)})`,
    types: engines.bigquery.types,
  },
  snowflake: {
    quote: snowflakeName,
    member: (column, ...steps) => `GET_PATH(TRY_PARSE_JSON(${column}), ${literal(snowflakePath(steps))})::VARCHAR`,
    types: engines.snowflake.types,
  },
  clickhouse: {
    quote: escapedBackQuoted,
    // Its positions count from 1.
    member: (column, ...steps) => {
      const path = steps.map((step) => (typeof step === 'number' ? String(step + 1) : literal(step)));
      return `JSONExtractString(ifNull(${column}, ''), ${path.join(', ')})`;
    },
    types: {
      string: 'Nullable(String)',
      boolean: 'Nullable(Bool)',
      int64: 'Nullable(Int64)',
      json: 'Nullable(String)',
      timestamp: "Nullable(DateTime64(6, 'UTC'))",
    },
  },
  redshift: {
    quote: doubleQuoted,
    member: (column, ...steps) =>
      steps.reduce<string>(
        (inner, step) =>
          typeof step === 'number'
            ? `JSON_EXTRACT_ARRAY_ELEMENT_TEXT(${inner}, ${step}, TRUE)`
            : `JSON_EXTRACT_PATH_TEXT(${inner}, ${literal(step)}, TRUE)`,
        column,
      ),
    types: engines.redshift.types,
  },
  athena: trino,
  trino,
  spark,
  databricks: spark,
};

function snowflakePath(steps: readonly (string | number)[]): string {
  return steps.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${step}`)).join('');
}
