import { commentsFor, ddlFor, type LoadPlan, recordTable } from '../warehouse/index.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Clock } from '../../lib/clock.ts';
import { codeOf } from '../../lib/export-error.ts';
import { type Database, type DatabaseKind, postgresBlock } from './database.ts';
import { lockNotGranted } from './load-errors.ts';
import { addedRecordColumns, loadsTable } from './load-record.ts';

/** A wait for a lock ends after this time, unless the address of the database says another. */
const standardLockTimeoutMs = 30_000;

/** At this level, after the wait for its turn a load sees what the load before it left. */
export const beginOf: Readonly<Record<DatabaseKind, string>> = {
  duckdb: 'BEGIN;\n',
  postgres: 'BEGIN ISOLATION LEVEL read committed;\n',
};

/** Statements that each load begins with, in its transaction. @param schema default: the schema of the connection */
export function openingStatements(kind: DatabaseKind, plan: LoadPlan, schema: string | undefined): string[] {
  const comments = kind === 'postgres' ? commentsFor(kind, recordTable) : '';
  const loads = createIfAbsent(kind, loadsTable, ddlFor(kind, { ...recordTable, key: ['table'] }) + comments);
  if (kind === 'duckdb') return [...selectDuckdbSchema(schema), loads, ...addedRecordColumns.map(addRecordColumn)];
  return [
    ...selectPostgresSchema(schema),
    // Where a policy would hide rows, PostgreSQL refuses: a load that does not see rows would double them.
    'SET LOCAL row_security = off;\n',
    turnOf(plan, schema),
    ...(schema === undefined ? [] : [createPostgresSchema(schema)]),
    loads,
    upgradeLoadsTable(),
  ];
}

export function selectPostgresSchema(schema: string | undefined): string[] {
  return schema === undefined ? [] : [`SET LOCAL search_path TO ${doubleQuoted(schema)};\n`];
}

/** CREATE SCHEMA IF NOT EXISTS needs the right to make schemas also where it is there. */
function createPostgresSchema(schema: string): string {
  const isAbsent = `to_regnamespace(${literal(doubleQuoted(schema))}) IS NULL`;
  return postgresBlock(`IF ${isAbsent} THEN CREATE SCHEMA ${doubleQuoted(schema)}; END IF;`);
}

/** The database of a file has the file's name, and a schema of that name would be ambiguous without it. */
export function selectDuckdbSchema(schema: string | undefined): string[] {
  if (schema === undefined) return [];
  return [
    `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(schema)};\n`,
    `SET schema = '"' || replace(current_database(), '"', '""') || '".' || ${literal(doubleQuoted(schema))};\n`,
  ];
}

/** CREATE TABLE IF NOT EXISTS of PostgreSQL needs the right to create also where the table is there. */
export function createIfAbsent(kind: DatabaseKind, table: string, create: string): string {
  if (kind === 'duckdb') return create.replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS');
  return postgresBlock(`IF to_regclass(${literal(doubleQuoted(table))}) IS NULL THEN\n${create}END IF;`);
}

export function addRecordColumn([name, type]: readonly [name: string, type: string]): string {
  return `ALTER TABLE ${doubleQuoted(loadsTable)} ADD COLUMN IF NOT EXISTS ${doubleQuoted(name)} ${type};\n`;
}

/** ADD COLUMN IF NOT EXISTS needs the owner also where the column is there. */
function upgradeLoadsTable(): string {
  const [last = ''] = addedRecordColumns.at(-1) ?? [];
  const found = `SELECT FROM pg_attribute WHERE attrelid = to_regclass(${literal(doubleQuoted(loadsTable))}) AND attname = ${literal(last)} AND NOT attisdropped`;
  return postgresBlock(`IF NOT EXISTS (${found}) THEN\n${addedRecordColumns.map(addRecordColumn).join('')}END IF;`);
}

/**
 * Loads into the same tables come one after the other, and wait for each other without a limit, whatever schema of the search path
 * comes before that of the tables. The first load into a schema
 * waits for every other first load: CREATE TABLE fails where another makes the same table at the same time.
 */
function turnOf({ prefix }: LoadPlan, schema: string | undefined): string {
  const found = `SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass(${literal(doubleQuoted(loadsTable))})`;
  const inSchema = schema === undefined ? `coalesce((${found}), current_schema(), '')` : literal(schema);
  const wait = `DECLARE given text := current_setting('lock_timeout');
BEGIN
  PERFORM set_config('lock_timeout', '0', true);
  IF to_regclass(${literal(doubleQuoted(loadsTable))}) IS NULL THEN PERFORM pg_advisory_xact_lock(hashtext('asset-export')); END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('asset-export ' || ${inSchema} || ' ' || ${literal(prefix)}, 0));
  PERFORM set_config('lock_timeout', CASE given WHEN '0' THEN '${standardLockTimeoutMs}' ELSE given END, true);
END`;
  return `DO ${literal(wait)};\n`;
}

/**
 * A change of a table or view waits for all transactions that have read it, and later readers wait behind it: it is tried for a short
 * time, again and again. In milliseconds.
 */
const [tryMs, pauseMs] = [300, 1000] as const;

/** How long a load waits for a lock, in milliseconds. */
export async function lockLimitMs(database: Database): Promise<number> {
  if (database.kind === 'duckdb') return 0;
  const [[ms] = []] = await database.rows(`SELECT setting FROM pg_settings WHERE name = 'lock_timeout'`);
  return Number(ms) === 0 ? standardLockTimeoutMs : Number(ms);
}

/** Changes what people read, in a transaction of its own. @throws the last error of the driver */
export async function changePatiently(database: Database, clock: Clock, change: () => Promise<void>): Promise<void> {
  const limitMs = await lockLimitMs(database);
  const sinceMs = clock.monotonic();
  for (;;) {
    await database.run(beginOf[database.kind]);
    try {
      if (database.kind === 'postgres') await database.run(`SET LOCAL lock_timeout = ${tryMs}`);
      await change();
      await database.run('COMMIT');
      return;
    } catch (error) {
      await database.run('ROLLBACK').catch(() => undefined);
      if (codeOf(error) !== lockNotGranted || clock.monotonic() - sinceMs + pauseMs > limitMs) throw error;
      await clock.sleep(pauseMs);
    }
  }
}
