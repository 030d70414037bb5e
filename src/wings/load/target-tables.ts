import { commentsFor, ddlFor, type LoadPlan, type LoadTable, recordTable } from '../warehouse/index.ts';
import { isIdColumn, type Table } from '../../core/records/table.ts';
import { ExportError } from '../../lib/export-error.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { loadsTable } from './load-record.ts';
import type { LoadSession } from './load-session.ts';
import { createIfAbsent, openingStatements } from './opening.ts';

/** The columns that identify a row; undefined where the job left the id of assets out. */
export function keyOf({ name, table }: LoadTable): string[] | undefined {
  if (name !== 'assets') return ['asset_id', 'position'];
  const id = table.columns.find(isIdColumn)?.name;
  return id === undefined ? undefined : [id];
}

/** Creates the tables that are absent. Tables are never dropped: views and grants stay. */
export async function createTables(session: LoadSession, { tables }: LoadPlan): Promise<void> {
  for (const source of tables) {
    // In DuckDB a row with the key of one that was deleted in the same transaction is refused.
    const key = session.kind === 'postgres' ? keyOf(source) : undefined;
    const table = key === undefined ? source.table : { ...source.table, key };
    await createTable(session, table);
  }
}

/** Creates a table that is absent, with comments on it and on its columns. Those of a table that was there stay. */
export async function createTable(session: LoadSession, table: Table): Promise<void> {
  const { kind } = session;
  const comments = commentsFor(kind, table);
  await session.run(createIfAbsent(kind, table.name, ddlFor(kind, table) + (kind === 'postgres' ? comments : '')));
  // On trial the columns that it lacks, which have comments, are not there yet.
  if (!session.isTrial) await commentIfBare(session, table);
}

/** PostgreSQL comments on a table where it creates it. */
async function commentIfBare(session: LoadSession, table: Table): Promise<void> {
  if (session.kind === 'postgres') return;
  const bare = `duckdb_tables() WHERE "comment" IS NULL AND database_name = current_database() AND schema_name = current_schema() AND table_name = ${literal(table.name)}`;
  if ((await session.count(bare)) > 0) await session.run(commentsFor(session.kind, table));
}

/** What each load begins with, in its transaction. @param schema default: the schema of the connection */
export async function openLoad(session: LoadSession, plan: LoadPlan, schema: string | undefined): Promise<void> {
  for (const sql of openingStatements(session.kind, plan, schema)) await session.run(sql);
  await commentIfBare(session, recordTable);
}

/**
 * Holds writers back, and loads by older versions, but no readers. By name, whatever the order of the job's tables, so that
 * two loads never wait for each other.
 */
export async function lockTables(session: LoadSession, tables: readonly string[]): Promise<void> {
  if (session.kind !== 'postgres') return;
  const names = [...tables].sort().map(doubleQuoted);
  await session.run(`LOCK TABLE ${names.join(', ')} IN SHARE ROW EXCLUSIVE MODE;\n`);
}

/**
 * The records of loads of these tables, behind FROM. What is recorded of a table without rows does not count: it may have been dropped.
 * @param condition of the records
 */
export function loadRecordsOf(session: LoadSession, { tables }: LoadPlan, condition: string): string {
  const held = tables.map(
    ({ table: { name } }) =>
      `"table" = ${literal(name)} AND EXISTS (SELECT 1 FROM ${doubleQuoted(session.heldName(name))})`,
  );
  return `${doubleQuoted(session.heldName(loadsTable))} WHERE ${condition} AND (${held.join(' OR ')})`;
}

/** @throws {ExportError} `usage` when one of the tables holds versions: rows that `scd2` loaded */
export async function requireNoVersions(session: LoadSession, plan: LoadPlan): Promise<void> {
  await session.refuseIf({
    query: `SELECT "table" FROM ${loadRecordsOf(session, plan, `mode = 'scd2'`)}`,
    error: ([table]) =>
      new ExportError(
        'usage',
        `the table ${String(table)} was loaded with --mode scd2: --mode replace would remove its versions`,
        { todo: 'Load with --mode scd2, or into other tables with --schema or --prefix.' },
      ),
  });
}
