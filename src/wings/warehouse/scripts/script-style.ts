import type { Column, Table, ColumnType } from '../../../core/records/table.ts';
import { escapedBackQuoted, doubleQuoted, escapedLiteral, literal } from '../../../lib/sql-text.ts';
import { commentsFor, ddlFor, type EngineName } from '../engines.ts';
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
  readonly hasTemporaryStages: boolean;
  readonly createStage: (stage: Stage) => string;
  /** Drops what a script made, where it is there. */
  readonly drop: (names: readonly string[]) => string;
  /** Begins the transaction, and holds writers of these tables back where it can. */
  readonly begin: (tables: readonly string[]) => string;
  readonly commit: string;
  /** Ends the script with the message of the first check that fails. */
  readonly require: (checks: readonly Check[]) => string;
  /** Milliseconds since 1970 as an expression. */
  readonly at: (ms: number) => string;
  readonly now: string;
  readonly gate: Gate;
  /** The stages take the places of their tables; they are called as the pairs say. */
  readonly swap: (pairs: readonly Stage[], gate: string) => string[];
}

export interface Check {
  readonly condition: string;
  /** What is wrong where the condition does not hold. */
  readonly message: string;
}

/**
 * What keeps the statements behind a failed guard from changing rows. Where they could, it is a table of one row that is there only
 * where the guard passed: without it, no statement changes a row.
 */
interface Gate {
  /** The tables that it needs, for these stages. */
  readonly made: (stages: readonly string[], name: string) => string[];
  readonly create: (name: string, checks: readonly Check[]) => string;
  /** What stands behind the tables of a FROM. */
  readonly from: (name: string) => string;
  readonly deleteWhere: (table: string, condition: string, name: string) => string;
}

/** For a warehouse where an error ends the script. */
function guardAlone(quote: (name: string) => string, require: ScriptStyle['require']): Gate {
  return {
    made: () => [],
    create: (_, checks) => require(checks),
    from: () => '',
    deleteWhere: (table, condition) => `DELETE FROM ${quote(table)} WHERE ${condition};\n`,
  };
}

/** For a warehouse whose clients may go on behind an error. */
function gateTable(quote: (name: string) => string, create: Gate['create']): Gate {
  return {
    made: (_, name) => [name],
    create,
    from: (name) => `, ${quote(name)}`,
    deleteWhere: (table, condition, name) => `DELETE FROM ${quote(table)} USING ${quote(name)} WHERE ${condition};\n`,
  };
}

/** Empties the tables and fills them. */
function deleteAndInsert(engine: EngineName, remove: (table: string, gate: string) => string): ScriptStyle['swap'] {
  return (pairs, gate) => {
    const {
      quote,
      gate: { from },
    } = styles[engine];
    return pairs.map(({ name, columns, target }) => {
      const names = columns.map((column) => quote(column.name)).join(', ');
      return `${remove(quote(target), quote(gate))} INTO ${quote(target)} (${names}) SELECT s.* FROM ${quote(name)} AS s${from(gate)};\n`;
    });
  };
}

/** What most warehouses write: tables of the session as stages, and a transaction. */
function commonStyle(engine: EngineName, quote: (name: string) => string) {
  return {
    quote,
    start: '',
    createIfAbsent: (table: Table, cluster: readonly string[]) =>
      ddlFor(engine, table, cluster).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS') + commentsFor(engine, table),
    hasTemporaryStages: true,
    // The stage has the target's types: its rows fit there. A target that lacks a column has no stage, and then nothing is changed.
    createStage: ({ name, columns, target }: Stage) => {
      const selected = columns.map((column) => quote(column.name));
      return `CREATE TEMPORARY TABLE ${quote(name)} AS SELECT ${selected.join(', ')} FROM ${quote(target)} WHERE 1 = 0;\n`;
    },
    begin: () => 'BEGIN;\n',
    commit: 'COMMIT;\n',
    now: 'CURRENT_TIMESTAMP',
  };
}

/** Drops one table a statement. */
function dropEach(quote: (name: string) => string): ScriptStyle['drop'] {
  return (names) => names.map((name) => `DROP TABLE IF EXISTS ${quote(name)};\n`).join('');
}

/** Drops the tables of a list by one statement. */
function dropAll(quote: (name: string) => string): ScriptStyle['drop'] {
  return (names) => `DROP TABLE IF EXISTS ${names.map(quote).join(', ')};\n`;
}

/** A block of PostgreSQL's own language. */
function block(body: string): string {
  const tag = ['$script$', '$script_1$', '$script_2$'].find((each) => !body.includes(each)) ?? '$$';
  return `DO ${tag} BEGIN ${body} END ${tag};\n`;
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

function plainTime(ms: number): string {
  return isoTime(ms).replace('T', ' ').replace('Z', '');
}

/** 1, or the first message, by an expression that fails there. */
function firstProblem(checks: readonly Check[], fail: (message: string) => string, passed: string): string {
  const cases = checks.map(({ condition, message }) => `  WHEN NOT (${condition}) THEN ${fail(message)}\n`);
  return `CASE\n${cases.join('')}  ELSE ${passed} END`;
}

/** The message stands in the error of the conversion: there is no statement that raises one. */
function castProblem(checks: readonly Check[], text: (message: string) => string): string {
  return `CAST(${firstProblem(checks, text, "'1'")} AS INTEGER)`;
}

function postgresRequire(checks: readonly Check[]): string {
  const each = checks.map(
    ({ condition, message }) =>
      `IF NOT (${condition}) THEN RAISE EXCEPTION USING MESSAGE = ${literal(message)}; END IF;`,
  );
  return block(each.join('\n'));
}

function bigqueryRequire(checks: readonly Check[]): string {
  return checks.map(({ condition, message }) => `ASSERT ${condition} AS ${escapedLiteral(message)};\n`).join('');
}

function redshiftRequire(checks: readonly Check[]): string {
  return `SELECT ${castProblem(checks, literal)};\n`;
}

function duckdbProblem(checks: readonly Check[]): string {
  return firstProblem(checks, (message) => `error(${literal(message)})`, '1');
}

function clickhouseProblem(checks: readonly Check[]): string {
  const each = checks.map(({ condition, message }) => `throwIf(NOT (${condition}), ${escapedLiteral(message)})`);
  return each.join('\n  + ');
}

/** EXCHANGE knows no condition. So stages get the name that it takes only by a RENAME that needs the table of the guard. */
function exchange(pairs: readonly Stage[], gate: string): string[] {
  const renames = [[guardOf(gate), gate], ...pairs.map(({ name }) => [name, readyOf(name)])];
  const renamed = renames.map((names) => names.map(escapedBackQuoted).join(' TO ')).join(',\n  ');
  const exchanged = pairs.map(
    ({ name, target }) => `EXCHANGE TABLES ${escapedBackQuoted(target)} AND ${escapedBackQuoted(readyOf(name))};\n`,
  );
  return [`RENAME TABLE\n  ${renamed};\n`, ...exchanged];
}

function guardOf(gate: string): string {
  return `${gate}_guard`;
}

function readyOf(stage: string): string {
  return `${stage}_ready`;
}

export const styles: Readonly<Record<EngineName, ScriptStyle>> = {
  duckdb: {
    ...commonStyle('duckdb', doubleQuoted),
    text: literal,
    start: '-- Run this in DuckDB: duckdb -bail FILE < script.sql\n',
    useSchema: (schema) =>
      `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(schema)};\nSET schema = '"' || replace(current_database(), '"', '""') || '".' || ${literal(doubleQuoted(schema))};\n`,
    drop: dropEach((name) => `temp.${doubleQuoted(name)}`),
    require: (checks) => `SELECT ${duckdbProblem(checks)} AS passed;\n`,
    gate: gateTable(
      doubleQuoted,
      (name, checks) => `CREATE TEMPORARY TABLE ${doubleQuoted(name)} AS SELECT ${duckdbProblem(checks)} AS passed;\n`,
    ),
    swap: deleteAndInsert('duckdb', (table, gate) => `DELETE FROM ${table} USING ${gate};\nINSERT`),
    at: (ms) => `TIMESTAMPTZ ${literal(isoTime(ms))}`,
  },
  postgres: {
    ...commonStyle('postgres', doubleQuoted),
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
    drop: dropAll((name) => `pg_temp.${doubleQuoted(name)}`),
    begin: (tables) =>
      `BEGIN;\nSET LOCAL row_security = off;\nLOCK TABLE ${[...tables].sort().map(doubleQuoted).join(', ')} IN SHARE ROW EXCLUSIVE MODE;\n`,
    require: postgresRequire,
    gate: guardAlone(doubleQuoted, postgresRequire),
    swap: deleteAndInsert('postgres', (table) => `DELETE FROM ${table};\nINSERT`),
    at: (ms) => `CAST(${literal(isoTime(ms))} AS timestamp with time zone)`,
  },
  bigquery: {
    ...commonStyle('bigquery', escapedBackQuoted),
    text: escapedLiteral,
    start: '-- Run this as one script: an error ends it and rolls back.\n',
    useSchema: (schema) => `SET @@dataset_id = ${escapedLiteral(schema)};\n`,
    hasTemporaryStages: false,
    createStage: ({ name, columns }) =>
      ddlFor('bigquery', { name, columns }).replace('CREATE TABLE', 'CREATE OR REPLACE TABLE'),
    drop: dropEach(escapedBackQuoted),
    begin: () => 'BEGIN TRANSACTION;\n',
    commit: 'COMMIT TRANSACTION;\n',
    require: bigqueryRequire,
    gate: guardAlone(escapedBackQuoted, bigqueryRequire),
    swap: deleteAndInsert('bigquery', (table) => `DELETE FROM ${table} WHERE TRUE;\nINSERT`),
    at: (ms) => `TIMESTAMP ${escapedLiteral(isoTime(ms))}`,
    now: 'CURRENT_TIMESTAMP()',
  },
  snowflake: {
    ...commonStyle('snowflake', snowflakeName),
    text: escapedLiteral,
    useSchema: (schema) => `USE SCHEMA ${snowflakeName(schema)};\n`,
    inSchema: (schema) => `CURRENT_SCHEMA() = ${literal(schema.toUpperCase())}`,
    drop: dropEach(snowflakeName),
    begin: () => '',
    require: (checks) => `SELECT ${castProblem(checks, escapedLiteral)};\n`,
    gate: gateTable(
      snowflakeName,
      // A statement that creates a table commits.
      (name, checks) =>
        `CREATE TEMPORARY TABLE ${snowflakeName(name)} AS SELECT ${castProblem(checks, escapedLiteral)} AS passed;\n\nBEGIN;\n`,
    ),
    swap: deleteAndInsert('snowflake', () => 'INSERT OVERWRITE'),
    at: (ms) => `CAST(${literal(`${plainTime(ms)} +00:00`)} AS TIMESTAMP_TZ)`,
  },
  clickhouse: {
    ...commonStyle('clickhouse', escapedBackQuoted),
    text: escapedLiteral,
    start: '-- There are no transactions: readers see the new rows of each table when it changes.\n',
    useSchema: (schema) => `USE ${escapedBackQuoted(schema)};\n`,
    requireTypes,
    hasTemporaryStages: false,
    createStage: ({ name, target }) => `CREATE TABLE ${escapedBackQuoted(name)} AS ${escapedBackQuoted(target)};\n`,
    drop: dropAll(escapedBackQuoted),
    begin: () => '',
    commit: '',
    require: (checks) => `SELECT ${clickhouseProblem(checks)} FORMAT Null;\n`,
    at: (ms) => `toDateTime64(${escapedLiteral(plainTime(ms))}, 6, 'UTC')`,
    now: 'now64(6)',
    gate: {
      made: (stages, gate) => [gate, guardOf(gate), ...stages.map(readyOf)],
      from: (name) => `, ${escapedBackQuoted(name)}`,
      create: (name, checks) =>
        `CREATE TABLE ${escapedBackQuoted(guardOf(name))} ENGINE = Memory AS SELECT ${clickhouseProblem(checks)} AS passed;\n`,
      deleteWhere: (table, condition, name) =>
        `DELETE FROM ${escapedBackQuoted(table)} WHERE ${condition} AND (SELECT count(*) FROM ${escapedBackQuoted(name)}) = 1;\n`,
    },
    swap: exchange,
  },
  redshift: {
    ...commonStyle('redshift', doubleQuoted),
    text: literal,
    useSchema: (schema) => `SET search_path TO ${doubleQuoted(schema)};\n`,
    drop: dropAll(doubleQuoted),
    require: redshiftRequire,
    gate: guardAlone(doubleQuoted, redshiftRequire),
    swap: deleteAndInsert('redshift', (table) => `DELETE FROM ${table};\nINSERT`),
    at: (ms) => `CAST(${literal(plainTime(ms))} AS TIMESTAMP)`,
    now: 'GETDATE()',
  },
};

/** Makes a schema the current one. */
export function selectSchema(engine: EngineName, schema: string): string {
  return styles[engine].useSchema(schema);
}
