import { ddlFor, type LoadTable, stagePrefix } from '../warehouse/index.ts';
import { changeColumns, changesTable } from '../../core/records/columns.ts';
import type { Table } from '../../core/records/table.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import type { DatabaseKind } from './database.ts';
import type { LoadSession } from './load-session.ts';
import { typeInDatabase } from './table-columns.ts';

/** The name of the stage of a table: without a schema, because it is temporary. @param name of the table in the export */
function stageName(name: string): string {
  return stagePrefix + name;
}

/**
 * Creates the stage of a table. Its columns have the types of the table, which a user may have changed.
 * @param own columns that the table lacks, with their types
 */
function createStage(
  { table, stage }: { readonly table: Table; readonly stage: string },
  own: ReadonlyMap<string, string> = new Map(),
): string {
  const columns = table.columns.map(({ name }) => {
    const type = own.get(name);
    return type === undefined ? doubleQuoted(name) : `CAST(NULL AS ${type}) AS ${doubleQuoted(name)}`;
  });
  return `CREATE TEMPORARY TABLE ${doubleQuoted(stage)} AS SELECT ${columns.join(', ')} FROM ${doubleQuoted(table.name)} WITH NO DATA;\n`;
}

/** Loads the rows of a table into a new temporary one. */
export async function loadStage(session: LoadSession, source: LoadTable): Promise<string> {
  const stage = stageName(source.name);
  const create = createStage({ table: source.table, stage });
  return fillStage(session, source, { stage, create });
}

/** The stage of the changes. */
export const stagedChanges = stageName(changesTable.name);

/** Loads the changes into a stage. Its columns have the types of the table of assets. @param assets the name of that table */
export async function stageChanges(session: LoadSession, source: LoadTable, assets: string): Promise<string> {
  const own = source.table.columns.filter(({ name }) => changeColumns.includes(name));
  const types = new Map(own.map((column) => [column.name, typeInDatabase(session.kind, column)]));
  const create = createStage({ table: { ...source.table, name: assets }, stage: stagedChanges }, types);
  return fillStage(session, source, { stage: stagedChanges, create });
}

async function fillStage(
  session: LoadSession,
  source: LoadTable,
  { stage, create }: { readonly stage: string; readonly create: string },
): Promise<string> {
  const table = { ...source.table, name: stage };
  // On trial the table may lack columns.
  await session.run(session.isTrial ? createTemporary(session.kind, table) : create);
  await session.load({ ...source, table });
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
