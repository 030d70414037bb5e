import { ddlFor, type LoadTable, stagePrefix } from '../warehouse/index.ts';
import { changeColumns, changesTable } from '../../core/records/columns.ts';
import type { Table } from '../../core/records/table.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database, DatabaseKind } from './database.ts';
import type { DeleteLimit } from './deletes.ts';
import { sameKey, type StagedTable } from './difference.ts';
import type { LoadedExport } from './loaded-export.ts';
import type { DeleteRule, LoadMode } from './load-record.ts';
import type { LoadSession } from './load-session.ts';
import { isUnmarked } from './marks.ts';
import { columnsQuery, typeInDatabase } from './table-columns.ts';
import { keyOf, lockTables } from './target-tables.ts';
import { isOpen } from './change-rows.ts';

export interface RowsOptions extends DeleteLimit {
  readonly mode: LoadMode;
  readonly schema?: string | undefined;
  readonly deletes?: DeleteRule | undefined;
  /** `replace`: an export may replace one that started later. */
  readonly allowOlder?: boolean;
  /** `replace`: tables that hold the export are not compared with it. */
  readonly skipHeld?: boolean;
  /** Takes what a person should know of a load that succeeds. */
  readonly note?: ((text: string) => void) | undefined;
}

/** A table on its way, and how its rows are compared. */
export interface OnItsWay {
  readonly source: LoadTable;
  readonly staged: StagedTable;
}

/** A load of rows within its transaction. */
export interface Loading {
  readonly database: Database;
  readonly session: LoadSession;
  readonly loaded: LoadedExport;
  readonly options: RowsOptions;
  /** The table has the column that `--deletes mark` sets. */
  readonly hasMarks: boolean;
  readonly byChanges: boolean;
  /** The start of the export, as an expression; empty where nothing needs it. */
  readonly at: string;
}

/** Memory for the joins of tables and stages: with the usual 4 MB they would go over the disk in many pieces. */
const roomForJoins = `SELECT set_config('work_mem', '128MB', true) WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('128MB');\n`;

/** Stages the tables that are compared: all but those of `replace` that have no rows. On trial that of assets alone. */
export async function stageTables(loading: Loading): Promise<OnItsWay[]> {
  const { session, loaded, options, byChanges } = loading;
  const { tables, prefix } = loaded.plan;
  const assets = tables.find(({ name }) => name === 'assets');
  if (session.kind === 'postgres') await session.run(roomForJoins);
  const onTheirWay: OnItsWay[] = [];
  for (const source of tables) {
    const isStaged = byChanges || options.mode === 'scd2' || !(await session.isEmpty(source.table.name));
    if (!isStaged || (session.isTrial && source !== (assets ?? source))) continue;
    const isChanges = byChanges && source === assets && loaded.changes !== undefined;
    const stage = isChanges
      ? await loadStage(session, loaded.changes, `${prefix}assets`)
      : await loadStage(session, source, source.table.name);
    const key = session.isTrial ? await keyInTable(session, source) : keyOf(source);
    onTheirWay.push({ source, staged: stagedTable(loading, source, { stage, key, ofAssets: onTheirWay[0] }) });
  }
  await lockTables(
    session,
    tables.map(({ table }) => table.name),
  );
  return onTheirWay;
}

/** @param ofAssets the table of assets, where it is staged: it comes first */
function stagedTable(
  { loaded, options, byChanges, hasMarks }: Loading,
  { name, table }: LoadTable,
  { stage, key, ofAssets }: { stage: string; key: readonly string[] | undefined; ofAssets: OnItsWay | undefined },
): StagedTable {
  const { mode, deletes = 'delete' } = options;
  const open = mode === 'scd2' ? isOpen : 'TRUE';
  const staged = { table, stage, key, only: 'TRUE', among: open, ignored: loaded.ignored };
  const isAssets = name === 'assets';
  const [idName = ''] = (isAssets ? key : ofAssets?.staged.key) ?? [];
  const id = doubleQuoted(idName);
  const idsIn = (from: string, where = ''): string => `(SELECT ${id} FROM ${doubleQuoted(from)}${where})`;
  if (isAssets) {
    const gone = byChanges
      ? `held.${id} IN ${idsIn(stagedChanges, ` WHERE op = 'delete'`)}`
      : `NOT EXISTS (SELECT 1 FROM ${doubleQuoted(stage)} AS staged WHERE ${sameKey([idName])})`;
    const marked = deletes === 'mark' && hasMarks ? { gone: `${gone} AND ${isUnmarked}` } : {};
    return byChanges ? { ...staged, only: `staged.op <> 'delete'`, gone, ...marked } : { ...staged, ...marked };
  }
  const keeps = deletes !== 'delete' && ofAssets !== undefined;
  if (byChanges) {
    const now = idsIn(stagedChanges, ` WHERE op <> 'delete'`);
    const among = `${open} AND held.asset_id IN ${keeps ? now : idsIn(stagedChanges)}`;
    return { ...staged, only: `staged.asset_id IN ${now}`, among };
  }
  return keeps ? { ...staged, among: `${open} AND held.asset_id IN ${idsIn(ofAssets.staged.stage)}` } : staged;
}

/** The key of a table that may lack it: then no row of the export is there. */
async function keyInTable(session: LoadSession, source: LoadTable): Promise<string[] | undefined> {
  const key = keyOf(source);
  if (key === undefined) return undefined;
  const columns = columnsQuery(session.kind, undefined, source.table.name);
  const held = `(${columns}) AS held WHERE name IN (${key.map(literal).join(', ')})`;
  return (await session.count(held)) === key.length ? key : [];
}

/** The stage of the changes. */
const stagedChanges = stagePrefix + changesTable.name;

/**
 * Loads rows into a new temporary table. Its columns have the types of the table that they are for, which a user may have changed.
 * @param target the name of that table: the columns of a change alone are not there
 */
async function loadStage(session: LoadSession, source: LoadTable, target: string): Promise<string> {
  const { kind, isTrial } = session;
  const stage = stagePrefix + source.name;
  const table = { ...source.table, name: stage };
  const columns = table.columns.map((column) => {
    const name = doubleQuoted(column.name);
    const isOwn = stage === stagedChanges && changeColumns.includes(column.name);
    return isOwn ? `CAST(NULL AS ${typeInDatabase(kind, column)}) AS ${name}` : name;
  });
  const create = `CREATE TEMPORARY TABLE ${doubleQuoted(stage)} AS SELECT ${columns.join(', ')} FROM ${doubleQuoted(target)} WITH NO DATA;\n`;
  // On trial the table may lack columns.
  await session.run(isTrial ? createTemporary(kind, table) : create);
  await session.load({ ...source, table });
  // The server knows nothing of a new table, and would join it as if it were small.
  if (kind === 'postgres') await session.run(`ANALYZE ${doubleQuoted(stage)};\n`);
  return stage;
}

/** A temporary table with the types of the export. */
export function createTemporary(kind: DatabaseKind, table: Table): string {
  return ddlFor(kind, table).replace('CREATE TABLE', 'CREATE TEMPORARY TABLE');
}

export async function dropStages(session: LoadSession, stages: readonly string[]): Promise<void> {
  for (const stage of stages) await session.run(`DROP TABLE ${doubleQuoted(stage)};\n`);
}
