import type { Column, Table, ColumnType } from '../../../core/records/table.ts';
import { escapedBackQuoted, doubleQuoted, escapedLiteral, literal } from '../../../lib/sql-text.ts';
import { commentsFor, ddlFor, type DialectName } from '../dialects.ts';
import { snowflakeName } from '../snowflake.ts';
import { clickhouseType } from '../clickhouse.ts';

/** Types that hold every value of a column, as patterns: that of the printed statement and wider ones. */
const fitting: Readonly<Record<ColumnType, string>> = {
  string: 'String',
  json: 'String',
  boolean: '(Bool|UInt8)',
  int64: 'Int(64|128|256)',
  double: 'Float64',
  decimal: String.raw`Decimal\(([2-6]\d|7[0-6]), 0\)`,
  timestamp: String.raw`DateTime64\([6-9](, '[^']+')?\)`,
};

/**
 * Makes a table without rows, and fails where a column of these tables does not hold every value of the export: ClickHouse would
 * wrap, round or replace such values without an error.
 * @param name of the table
 * @param database the one that must be the current one, where one was selected
 */
function requireTypes(tables: readonly Table[], name: string, database: string | undefined): string {
  const groups = new Map<string, string[]>();
  for (const table of tables) {
    for (const column of table.columns) {
      const wanted = `(${escapedLiteral(clickhouseType(column))}, ${escapedLiteral(patternOf(column))})`;
      const known = groups.get(wanted) ?? [];
      groups.set(wanted, [...known, `(${escapedLiteral(table.name)}, ${escapedLiteral(column.name)})`]);
    }
  }
  const wanted = [...groups].map(([type, columns]) => `    (table, name) IN (${columns.join(', ')}), ${type},\n`);
  const selected =
    database === undefined
      ? ''
      : ` AND throwIf(currentDatabase() <> ${escapedLiteral(database)}, 'another database is the current one') = 0`;
  return `-- A column that does not hold every value of the export ends the script here.
CREATE OR REPLACE TABLE ${escapedBackQuoted(name)} ENGINE = Memory AS
SELECT toInt8(concat('the column ', table, '.', name, ' is ', type, ', which would change values. Its type must be ', wanted.1)) AS misfit
FROM (
  SELECT table, name, type, multiIf(
${wanted.join('')}    ('', '')) AS wanted
  FROM system.columns WHERE database = currentDatabase()${selected}
) AS x WHERE NOT match(type, wanted.2);
`;
}

function patternOf(column: Column): string {
  const nullable = column.nullable ? String.raw`Nullable\(` : String.raw`(Nullable\()?`;
  return String.raw`^(LowCardinality\()?${nullable}${fitting[column.type]}\)*$`;
}

/** A table for the rows of an export, on their way into another table. */
export interface Stage {
  readonly name: string;
  /** As the files hold it. */
  readonly columns: readonly Column[];
  /** The table that has its columns. */
  readonly target: string;
}

/** How a warehouse writes what the scripts have in common. */
export interface ScriptStyle {
  readonly quote: (name: string) => string;
  readonly text: (text: string) => string;
  /** Lines that the script begins with. */
  readonly start: string;
  /** Makes a schema the current one. */
  readonly useSchema: (schema: string) => string;
  /** True where a schema is the current one, for a warehouse whose clients go on in another one after an error. */
  readonly inSchema?: (schema: string) => string;
  /** Makes a table without rows, where each column of these tables holds every value; for a warehouse that would change values. */
  readonly requireTypes?: (tables: readonly Table[], name: string, schema: string | undefined) => string;
  readonly createIfAbsent: (table: Table, cluster: readonly string[]) => string;
  /** Whether stages are tables of the session, which no other script sees. */
  readonly hasTemporaryStages?: boolean;
  readonly createStage: (stage: Stage) => string;
  readonly dropIfThere: (name: string) => string;
  /** Begins the transaction, and holds writers of these tables back where it can. */
  readonly begin: (tables: readonly string[]) => string;
  readonly commit: string;
  /** Ends the script with a message unless a condition holds. */
  readonly require: (condition: string, message: string) => string;
  /** Milliseconds since 1970 as an expression. */
  readonly at: (ms: number) => string;
  readonly now: string;
  /** How stages take the place of their tables, where no transaction holds DELETE and INSERT together. */
  readonly swap?: Swap;
}

export interface Swap {
  /** Tables that it makes, for these stages. */
  readonly made: (stages: readonly string[]) => string[];
  readonly statements: (pairs: readonly Pick<Stage, 'name' | 'target'>[], condition: string) => string[];
  /** A condition that holds where the stages have taken their places, and fails where they have not. */
  readonly done: (stages: readonly string[]) => string;
}

/** The stage has the target's types: its rows fit there. A target that lacks a column has no stage, and then nothing is changed. */
function stageLike(dialect: DialectName, create: string) {
  const { quote } = styles[dialect];
  return ({ name, columns, target }: Stage): string => {
    const selected = columns.map((column) => quote(column.name));
    return `${create} ${quote(name)} AS SELECT ${selected.join(', ')} FROM ${quote(target)} WHERE 1 = 0;\n`;
  };
}

function createIfAbsent(dialect: DialectName): ScriptStyle['createIfAbsent'] {
  return (table, cluster) =>
    ddlFor(dialect, table, cluster).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS') + commentsFor(dialect, table);
}

function dropIfThere(quote: (name: string) => string): ScriptStyle['dropIfThere'] {
  return (name) => `DROP TABLE IF EXISTS ${quote(name)};\n`;
}

/** A block of PostgreSQL's own language. */
function block(body: string): string {
  return `DO ${literal(`BEGIN ${body} END`)};\n`;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function plainTime(ms: number): string {
  return isoTime(ms).replace('T', ' ').replace('Z', '');
}

/** The message stands in the error of the conversion: there is no statement that raises one. */
function requireByCast(condition: string, message: string): string {
  return `SELECT CAST(CASE WHEN ${condition} THEN '0' ELSE ${literal(message)} END AS INTEGER);\n`;
}

/** EXCHANGE knows no condition. So stages get the name that it takes only by a RENAME that needs the gate, a table that the condition makes. */
const exchange: Swap = {
  made: (stages) => [...gateOf(stages), ...stages.map(readyOf)],
  done: (stages) => `(SELECT count(*) FROM ${escapedBackQuoted(gateOf(stages)[1] ?? '')}) = 1`,
  statements: (pairs, condition) => {
    const [gate, passed] = gateOf(pairs.map(({ name }) => name)).map(escapedBackQuoted);
    const renames = pairs.map(({ name }) => `${escapedBackQuoted(name)} TO ${escapedBackQuoted(readyOf(name))}`);
    return [
      `CREATE OR REPLACE TABLE ${gate ?? ''} ENGINE = Memory AS\nSELECT throwIf(NOT (${condition}), 'a stage is not complete, or the tables hold another export') AS passed;\n`,
      `RENAME TABLE\n  ${[`${gate ?? ''} TO ${passed ?? ''}`, ...renames].join(',\n  ')};\n`,
      ...pairs.map(
        ({ name, target }) => `EXCHANGE TABLES ${escapedBackQuoted(target)} AND ${escapedBackQuoted(readyOf(name))};\n`,
      ),
    ];
  },
};

function gateOf([first = '']: readonly string[]): string[] {
  return [`${first}_gate`, `${first}_passed`];
}

function readyOf(stage: string): string {
  return `${stage}_ready`;
}

export const styles: Readonly<Record<DialectName, ScriptStyle>> = {
  duckdb: {
    quote: doubleQuoted,
    text: literal,
    start: '-- Run this in DuckDB: duckdb -bail FILE < script.sql\n',
    useSchema: (schema) =>
      `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(schema)};\nSET schema = '"' || replace(current_database(), '"', '""') || '".' || ${literal(doubleQuoted(schema))};\n`,
    createIfAbsent: createIfAbsent('duckdb'),
    hasTemporaryStages: true,
    createStage: (stage) => stageLike('duckdb', 'CREATE TEMPORARY TABLE')(stage),
    dropIfThere: (name) => `DROP TABLE IF EXISTS temp.${doubleQuoted(name)};\n`,
    begin: () => 'BEGIN;\n',
    commit: 'COMMIT;\n',
    require: (condition, message) => `SELECT CASE WHEN ${condition} THEN 'ok' ELSE error(${literal(message)}) END;\n`,
    at: (ms) => `TIMESTAMPTZ ${literal(isoTime(ms))}`,
    now: 'CURRENT_TIMESTAMP',
  },
  postgres: {
    quote: doubleQuoted,
    text: literal,
    start: '-- Run this in psql: psql -f script.sql\n\\set ON_ERROR_STOP on\nSET client_min_messages = warning;\n',
    useSchema: (schema) => {
      const absent = `to_regnamespace(${literal(doubleQuoted(schema))}) IS NULL`;
      return `${block(`IF ${absent} THEN CREATE SCHEMA ${doubleQuoted(schema)}; END IF;`)}SET search_path TO ${doubleQuoted(schema)};\n`;
    },
    // CREATE TABLE IF NOT EXISTS needs the right to create also where the table is there.
    createIfAbsent: (table) =>
      block(
        `IF to_regclass(${literal(doubleQuoted(table.name))}) IS NULL THEN\n${ddlFor('postgres', table)}${commentsFor('postgres', table)}END IF;`,
      ),
    hasTemporaryStages: true,
    createStage: (stage) => stageLike('postgres', 'CREATE TEMPORARY TABLE')(stage),
    dropIfThere: (name) => `DROP TABLE IF EXISTS pg_temp.${doubleQuoted(name)};\n`,
    begin: (tables) =>
      `BEGIN;\nSET LOCAL row_security = off;\nLOCK TABLE ${[...tables].sort().map(doubleQuoted).join(', ')} IN SHARE ROW EXCLUSIVE MODE;\n`,
    commit: 'COMMIT;\n',
    require: (condition, message) =>
      block(`IF NOT (${condition}) THEN RAISE EXCEPTION USING MESSAGE = ${literal(message)}; END IF;`),
    at: (ms) => `CAST(${literal(isoTime(ms))} AS timestamp with time zone)`,
    now: 'CURRENT_TIMESTAMP',
  },
  bigquery: {
    quote: escapedBackQuoted,
    text: escapedLiteral,
    start: '-- Run this as one script: an error ends it and rolls back.\n',
    useSchema: (schema) => `SET @@dataset_id = ${escapedLiteral(schema)};\n`,
    createIfAbsent: createIfAbsent('bigquery'),
    createStage: ({ name, columns }) =>
      ddlFor('bigquery', { name, columns }).replace('CREATE TABLE', 'CREATE OR REPLACE TABLE'),
    dropIfThere: dropIfThere(escapedBackQuoted),
    begin: () => 'BEGIN TRANSACTION;\n',
    commit: 'COMMIT TRANSACTION;\n',
    require: (condition, message) => `ASSERT ${condition} AS ${escapedLiteral(message)};\n`,
    at: (ms) => `TIMESTAMP ${escapedLiteral(isoTime(ms))}`,
    now: 'CURRENT_TIMESTAMP()',
  },
  snowflake: {
    quote: snowflakeName,
    text: literal,
    start: '',
    useSchema: (schema) => `USE SCHEMA ${snowflakeName(schema)};\n`,
    inSchema: (schema) => `CURRENT_SCHEMA() = ${literal(schema.toUpperCase())}`,
    createIfAbsent: createIfAbsent('snowflake'),
    createStage: (stage) => stageLike('snowflake', 'CREATE OR REPLACE TABLE')(stage),
    dropIfThere: dropIfThere(snowflakeName),
    begin: () => 'BEGIN;\n',
    commit: 'COMMIT;\n',
    require: requireByCast,
    at: (ms) => `CAST(${literal(`${plainTime(ms)} +00:00`)} AS TIMESTAMP_TZ)`,
    now: 'CURRENT_TIMESTAMP',
  },
  clickhouse: {
    quote: escapedBackQuoted,
    text: escapedLiteral,
    start:
      '-- clickhouse-client --queries-file script.sql. There are no transactions: readers see each statement when it ends.\n',
    useSchema: (schema) => `USE ${escapedBackQuoted(schema)};\n`,
    requireTypes,
    createIfAbsent: createIfAbsent('clickhouse'),
    createStage: ({ name, target }) => `CREATE TABLE ${escapedBackQuoted(name)} AS ${escapedBackQuoted(target)};\n`,
    dropIfThere: dropIfThere(escapedBackQuoted),
    begin: () => '',
    commit: '',
    require: (condition, message) => `SELECT throwIf(NOT (${condition}), ${escapedLiteral(message)}) FORMAT Null;\n`,
    at: (ms) => `toDateTime64(${escapedLiteral(plainTime(ms))}, 6, 'UTC')`,
    now: 'now64(6)',
    swap: exchange,
  },
  redshift: {
    quote: doubleQuoted,
    text: literal,
    start: '',
    useSchema: (schema) => `SET search_path TO ${doubleQuoted(schema)};\n`,
    createIfAbsent: createIfAbsent('redshift'),
    createStage: (stage) => stageLike('redshift', 'CREATE TABLE')(stage),
    dropIfThere: dropIfThere(doubleQuoted),
    begin: () => 'BEGIN;\n',
    commit: 'COMMIT;\n',
    require: requireByCast,
    at: (ms) => `CAST(${literal(plainTime(ms))} AS TIMESTAMP)`,
    now: 'GETDATE()',
  },
};

/** Makes a schema the current one. */
export function selectSchema(dialect: DialectName, schema: string): string {
  return styles[dialect].useSchema(schema);
}
