import { ddlFor, type LoadPlan, type LoadTable, type CountedChange } from '../warehouse/index.ts';
import type { Table } from '../../core/records/table.ts';
import { ExportError } from '../../lib/export-error.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import type { DatabaseKind } from './database.ts';
import { createStage, stageName } from './difference.ts';
import { notHeld, requireHeld } from './held-rows.ts';
import type { TableRecord } from './load-record.ts';
import type { LoadSession } from './load-session.ts';
import { keyOf, lockTables } from './target-tables.ts';

const wayOut = 'load the export with --mode replace';

/** Loads the rows of a table into a new temporary one. */
export async function loadStage(session: LoadSession, source: LoadTable): Promise<string> {
  const stage = stageName(source.name);
  if (session.isTrial) await session.run(createTemporary(session.kind, { ...source.table, name: stage }));
  else await session.run(createStage({ table: source.table, stage }));
  await session.load({ ...source, table: { ...source.table, name: stage } });
  // The server knows nothing of a new table, and would join it as if it were small.
  if (session.kind === 'postgres') await session.run(`ANALYZE ${doubleQuoted(stage)};\n`);
  return stage;
}

/** A temporary table with the types of the export. */
export function createTemporary(kind: DatabaseKind, table: Table): string {
  return ddlFor(kind, table).replace('CREATE TABLE', 'CREATE TEMPORARY TABLE');
}

export async function dropStages(session: LoadSession, stages: readonly string[]): Promise<void> {
  for (const stage of stages) await session.run(`DROP TABLE ${doubleQuoted(stage)};\n`);
}

const before = 'asset_export_before';

/** Adds the rows to those that are there. */
export async function appendAll(session: LoadSession, { tables }: LoadPlan): Promise<TableRecord[]> {
  if (session.isTrial) return [];
  await lockTables(
    session,
    tables.map(({ table }) => table.name),
  );
  const counts = tables.map(
    ({ name, table }) => `SELECT '${name}' AS name, count(*) AS held FROM ${doubleQuoted(table.name)}`,
  );
  await session.run(`CREATE TEMPORARY TABLE ${doubleQuoted(before)} AS ${counts.join('\nUNION ALL ')};\n`);
  for (const source of tables) await session.load(source);
  for (const { name, table, rows } of tables) {
    const added = `(SELECT count(*) FROM ${doubleQuoted(table.name)}) - held`;
    await session.refuseIf({
      query: `SELECT ${added} FROM ${doubleQuoted(before)} WHERE name = '${name}' AND ${added} <> ${rows}`,
      error: ([got]) => notHeld(`${table.name} (new rows)`, Number(got), rows, wayOut),
    });
  }
  await dropStages(session, [before]);
  return tables.map(({ table, rows }) => ({ table: table.name, rows, deleted: 0 }));
}

/**
 * Replaces the assets that the export holds, with their rows in child tables.
 * @throws {ExportError} `usage` when there is no id to go by
 */
export async function upsertAll(session: LoadSession, { tables }: LoadPlan): Promise<TableRecord[]> {
  const assets = tables.find(({ name }) => name === 'assets');
  const id = assets === undefined ? undefined : keyOf(assets)?.[0];
  if (assets === undefined || id === undefined) {
    throw new ExportError(
      'usage',
      '--mode upsert needs the column id of the table assets, which this export does not have',
      { todo: 'Export the table assets with the column id, or load with --mode replace or append.' },
    );
  }
  if (session.isTrial) return [];
  const stage = await loadStage(session, assets);
  await lockTables(
    session,
    tables.map(({ table }) => table.name),
  );
  const among = (column: string): string =>
    `${doubleQuoted(column)} IN (SELECT ${doubleQuoted(id)} FROM ${doubleQuoted(stage)})`;
  const deleted = new Map<string, number>();
  for (const { name, table } of tables) {
    const where = `${among(name === 'assets' ? id : 'asset_id')}`;
    deleted.set(name, await session.run(`DELETE FROM ${doubleQuoted(table.name)} WHERE ${where};\n`));
  }
  await session.change(insertStaged(assets.table, stage));
  for (const source of tables) if (source !== assets) await session.load(source);
  for (const { name, table, rows } of tables) {
    const where = among(name === 'assets' ? id : 'asset_id');
    await requireHeld(session, { table: table.name, rows, where }, wayOut);
  }
  await dropStages(session, [stage]);
  return tables.map(({ name, table, rows }) => ({ table: table.name, rows, deleted: deleted.get(name) ?? 0 }));
}

function insertStaged({ name, columns }: Table, stage: string): CountedChange {
  const names = columns.map((column) => doubleQuoted(column.name)).join(', ');
  const rows = doubleQuoted(stage);
  return { table: name, sql: `INSERT INTO ${doubleQuoted(name)} (${names}) SELECT ${names} FROM ${rows};\n`, rows };
}
