import { commentsFor, ddlFor, type LoadPlan, type LoadTable, recordTable, validColumns } from '../warehouse/index.ts';
import { changesTable, tableNames } from '../../core/records/columns.ts';
import { isIdColumn, type Table } from '../../core/records/table.ts';
import type { Database } from './database.ts';
import type { LoadedExport } from './loaded-export.ts';
import { type LoadMode, loadsTable } from './load-record.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { LoadSession } from './load-session.ts';
import { columnsInDatabase } from './table-columns.ts';
import { createIfAbsent, openingStatements } from './opening.ts';

/** The columns that identify a row; undefined where the job left the id of assets out. */
export function keyOf({ name, table }: LoadTable): string[] | undefined {
  if (name !== 'assets') return ['asset_id', 'position'];
  const id = table.columns.find(isIdColumn)?.name;
  return id === undefined ? undefined : [id];
}

/** Creates the tables that are absent. Tables are never dropped: views and grants stay. */
export async function createTables(session: LoadSession, { tables }: LoadPlan, mode: LoadMode): Promise<void> {
  const [more, keys] = mode === 'scd2' ? [validColumns, ['valid_from']] : [[], []];
  for (const source of tables) {
    // In DuckDB a row with the key of one that was deleted in the same transaction is refused.
    const key = session.kind === 'postgres' ? keyOf(source) : undefined;
    const columns = [...source.table.columns, ...more];
    await createTable(session, { ...source.table, columns, ...(key === undefined ? {} : { key: [...key, ...keys] }) });
  }
}

/** Creates a table that is absent, with comments on it and on its columns. Those of a table that was there stay. */
async function createTable(session: LoadSession, table: Table): Promise<void> {
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
 * A line on tables that an earlier export filled and this one does not have; undefined where there are none. The tables are not
 * read: the role may not have the right.
 */
export async function leftTables(database: Database, { plan, name }: LoadedExport): Promise<string | undefined> {
  const own = new Set(plan.tables.map((table) => table.name));
  const others = tableNames.filter((each) => each !== changesTable.name && !own.has(each));
  if (others.length === 0) return undefined;
  const names = others.map((each) => literal(plan.prefix + each)).join(', ');
  const records = await database.rows(
    `SELECT "table", coalesce(export, 'an earlier export') FROM ${doubleQuoted(loadsTable)} WHERE "table" IN (${names}) AND coalesce("rows", 1) > 0 ORDER BY 1`,
  );
  const left: string[] = [];
  for (const [table, held] of records) {
    const columns = await columnsInDatabase(database, undefined, String(table));
    if (columns.size > 0) left.push(`${String(table)} (of ${String(held)})`);
  }
  if (left.length === 0) return undefined;
  return `${name} does not have these tables, so they stay as an earlier load left them: ${left.join(', ')}. Drop them if they are not needed.`;
}
