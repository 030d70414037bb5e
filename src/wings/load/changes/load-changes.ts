import {
  type ChangedTables,
  type ChangeStyle,
  type DeleteRule,
  type FilledTable,
  insertText,
  mergeChildren,
  rowsAfterLoad,
  requireFreeNames,
  scd2Statements,
  validColumns,
  versionNames,
  type LoadPlan,
  type LoadTable,
} from '../../warehouse/index.ts';
import { changeColumns, changesTable } from '../../../core/records/columns.ts';
import type { Column, Table } from '../../../core/records/table.ts';
import { isIdColumn } from '../../../core/records/table.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import { contentSeal } from '../../../places/export/content-seal.ts';
import type { Database } from '../database.ts';
import { type DeleteLimit, deleteLimit, type DeletesByReason, mostDeletes, tooManyDeletes } from '../delete-limit.ts';
import { requireHeld } from '../held-rows.ts';
import type { LoadedExport } from '../loaded-export.ts';
import type { ChangeLoadMode } from '../load-modes.ts';
import { loadsTable, type TableRecord } from '../load-record.ts';
import type { LoadSession } from '../load-session.ts';
import { holdsMarks, marksColumn } from './marks.ts';
import { mergeAssets } from './merge-assets.ts';
import { dropStages, loadStage } from '../stages.ts';
import { requireSameChildren } from './require-children.ts';
import { moment } from '../sql-words.ts';
import { type Elsewhere, otherMode, type Standing, standingOf, standsElsewhere } from './standing.ts';
import { stageChanges, stagedChanges } from './stage-changes.ts';
import { createTable, lockTables } from '../target-tables.ts';

export interface ChangeOptions extends DeleteLimit {
  readonly schema?: string | undefined;
  readonly deletes?: DeleteRule | undefined;
}

/** What a load did to each table. `already`: the tables stood at this export. */
export interface ChangesApplied {
  readonly state: 'loaded' | 'merged' | 'already';
  readonly seal: string;
  readonly baseSeal: string | null;
  /** Rows that went into each table, by its name in the export. */
  readonly tables: Readonly<Record<string, number>>;
  readonly deleted: number;
  readonly records: readonly TableRecord[];
}

/** What is loaded, and onto what. */
interface Loading extends ChangeOptions {
  readonly mode: ChangeLoadMode;
  readonly loaded: LoadedExport;
  readonly database: Database;
  readonly session: LoadSession;
  readonly seal: string;
  /** The export that its changes were made from; undefined for one without changes. */
  readonly base: Elsewhere['base'];
  /** The table of assets in the database: all its columns that the export fills. */
  readonly assets: FilledTable;
  /** Whether it has the column that `--deletes mark` sets. */
  readonly hasMarks: boolean;
}

/**
 * Brings tables from the export at which they stand to the next one, inside the transaction of the caller. The first load takes a whole export.
 * @throws {ExportError} `usage` when the tables stand elsewhere, `notTolerated` for too many deletes, `loadFailed` when the tables
 * would not hold the rows of the export
 */
export async function loadChanges(
  { database, session }: { readonly database: Database; readonly session: LoadSession },
  loaded: LoadedExport,
  mode: ChangeLoadMode,
  options: ChangeOptions,
): Promise<ChangesApplied> {
  const { manifest } = loaded.finished;
  const { diff, base } = manifest;
  const hasChanges = loaded.plan.tables.some(({ name }) => name === changesTable.name);
  const assets = assetsOf(loaded.plan);
  const loading: Loading = {
    ...options,
    mode,
    loaded,
    database,
    session,
    seal: diff?.to.seal ?? contentSeal(manifest),
    base: diff?.from ?? (hasChanges ? base : undefined),
    assets,
    hasMarks: await holdsMarks(database, assets.name, assets.columns, options),
  };
  if (mode === 'scd2') requireFreeNames(loaded.address, assets.columns, versionNames, '--mode scd2');
  const { seal } = loading;
  const standing = await standingOf(database, assets.name);
  if (standing !== undefined && (mode === 'scd2') !== (standing.mode === 'scd2'))
    throw otherMode(assets.name, standing.mode, mode);
  if (standing?.seal === seal) {
    await lookAfter(loading);
    return { ...none, state: 'already', seal };
  }
  const applied =
    standing === undefined && diff === undefined ? await loadFirst(loading) : await applyTo(loading, standing);
  if (!session.isTrial) await lookAfter(loading);
  return applied;
}

const none = { baseSeal: null, tables: {}, deleted: 0, records: [] };

/** The table of assets as the changes or the whole export fill it. */
function assetsOf({ tables, prefix }: LoadPlan): FilledTable {
  const found = tables.find(({ name }) => name === changesTable.name) ?? tables.find(({ name }) => name === 'assets');
  const columns = found === undefined ? [] : columnsOfAssets(found);
  const id = columns.find(isIdColumn)?.name;
  if (id !== undefined) return { name: `${prefix}assets`, columns: columns.map(({ name }) => name), id };
  throw new ExportError('usage', 'this mode needs the column id of the table assets, which this export does not have', {
    todo: 'Export the table assets with the column id.',
  });
}

function columnsOfAssets({ table }: LoadTable): readonly Column[] {
  return table.columns.filter(({ name }) => !changeColumns.includes(name));
}

/** The tables of the export but `changes`. */
function wholeTables({ tables }: LoadPlan): LoadTable[] {
  return tables.filter(({ name }) => name !== changesTable.name);
}

async function loadFirst(loading: Loading): Promise<ChangesApplied> {
  const { loaded, database, session, mode, seal, assets } = loading;
  const at = mode === 'scd2' ? startOf(loaded) : '';
  const rows: Record<string, number> = {};
  const tables = wholeTables(loaded.plan);
  for (const source of tables) {
    const { table } = source;
    await createTable(session, changedTable(source));
    if (await database.hasRows(table)) throw notFirst(table.name);
    if (session.isTrial) continue;
    rows[source.name] = source.rows;
    if (mode === 'merge') {
      await session.load(source);
      continue;
    }
    const stage = await loadStage(session, source);
    const id = source.name === 'assets' ? assets.id : 'asset_id';
    const filled = { name: table.name, columns: table.columns.map(({ name }) => name), id };
    const fixed = [{ column: 'valid_from', value: at }];
    await session.run(insertText(filled, { quote: doubleQuoted }, { from: stage, fixed }));
    await dropStages(session, [stage]);
  }
  const records = tables.map((source) => ({ table: source.table.name, rows: source.rows, deleted: 0 }));
  return { state: 'loaded', seal, baseSeal: null, tables: rows, deleted: 0, records };

  function changedTable(source: LoadTable): Table {
    const key = source.name === 'assets' ? [assets.id] : ['asset_id', 'position'];
    const columns = [...source.table.columns, ...(mode === 'scd2' ? validColumns : [])];
    const keys = { key: mode === 'scd2' ? [...key, 'valid_from'] : key };
    // In DuckDB a row with the key of one that was deleted in the same transaction is refused.
    return { ...source.table, columns, ...(session.kind === 'postgres' ? keys : {}) };
  }
}

function notFirst(table: string): ExportError {
  const message = `the table ${table} has rows, and ${loadsTable} does not record which export they came from`;
  return new ExportError('usage', message, {
    todo: 'Load a whole export with --mode replace first, or load into other tables with --schema or --prefix.',
  });
}

async function applyTo(loading: Loading, standing: Standing | undefined): Promise<ChangesApplied> {
  const { loaded, database, session, mode, assets, base, seal, deletes = 'delete' } = loading;
  const { plan } = loaded;
  const changes = plan.tables.find(({ name }) => name === changesTable.name);
  if (changes === undefined || base === undefined || standing?.seal !== base.seal) {
    throw await standsElsewhere({ table: assets.name, loaded, base, standing, mode });
  }
  await requireSameChildren(database, loaded.finished.folder, plan, base);
  const at = mode === 'scd2' || deletes === 'mark' ? startOf(loaded) : '';
  await stageChanges(session, changes, assets.name);
  const children = wholeTables(plan).filter(({ name }) => name !== 'assets');
  const staged: ChangedTables['children'][number][] = [];
  for (const child of session.isTrial ? [] : children) {
    const columns = child.table.columns.map((column) => column.name);
    staged.push({ name: child.table.name, columns, id: 'asset_id', staged: await loadStage(session, child) });
  }
  await lockTables(session, [assets.name, ...staged.map(({ name }) => name)]);
  if (mode === 'scd2') await requireLater(loading, at);
  const gone = await countOf(database, `${doubleQuoted(stagedChanges)} WHERE op = 'delete'`);
  if (deletes !== 'keep') await requireFewDeletes(loading, gone);
  const deleted = deletes === 'delete' ? gone : 0;
  if (session.isTrial) return { ...none, state: 'merged', seal };
  const rows = await changedRows(loading, staged, children);
  const tables: ChangedTables = { assets, changes: stagedChanges, children: staged };
  const style: ChangeStyle = { quote: doubleQuoted, at };
  if (mode === 'merge') {
    const table = { ...changes.table, name: assets.name, columns: columnsOfAssets(changes) };
    await mergeAssets(session, { ...loading, table, id: assets.id, changes: stagedChanges, deletes, at });
  }
  const statements = mode === 'merge' ? mergeChildren : scd2Statements;
  for (const change of statements(tables, style, deletes)) await session.change(change);
  await dropStages(session, [stagedChanges, ...staged.map((each) => each.staged)]);
  const records = ['assets', ...children.map(({ name }) => name)].map((name) => ({
    table: plan.prefix + name,
    rows: rowsAfterLoad(loaded.finished)[name] ?? rows[name] ?? 0,
    deleted: name === 'assets' ? deleted : 0,
  }));
  return { state: 'merged', seal, baseSeal: base.seal, tables: rows, deleted, records };
}

/** Rows that the changes bring to each table, by its name in the export. */
async function changedRows(
  { database, assets }: Loading,
  staged: ChangedTables['children'],
  children: readonly LoadTable[],
): Promise<Record<string, number>> {
  const kept = `${doubleQuoted(stagedChanges)} WHERE op <> 'delete'`;
  const rows: Record<string, number> = { assets: await countOf(database, kept) };
  for (const [index, { name }] of children.entries()) {
    const stage = doubleQuoted(staged[index]?.staged ?? '');
    const among = `SELECT ${doubleQuoted(assets.id)} FROM ${kept}`;
    rows[name] = await countOf(database, `${stage} WHERE asset_id IN (${among})`);
  }
  return rows;
}

/** Each table holds the rows of the export: open ones, unmarked ones, or at least so many where deleted assets are kept. */
async function lookAfter({ loaded, session, mode, hasMarks, deletes = 'delete' }: Loading): Promise<void> {
  for (const [name, rows] of Object.entries(rowsAfterLoad(loaded.finished))) {
    // Assets that an earlier load marked stay, with their child rows.
    const isMarked = mode === 'merge' && hasMarks;
    const marks = isMarked && name === 'assets' ? `${doubleQuoted(marksColumn.name)} IS NULL` : undefined;
    const where = mode === 'scd2' ? 'valid_to IS NULL' : (marks ?? 'TRUE');
    const orMore = deletes === 'keep' || (isMarked && name !== 'assets');
    const wayOut =
      mode === 'merge' ? 'load the export with --mode replace' : 'load it into other tables with --schema or --prefix';
    await requireHeld(session, { table: loaded.plan.prefix + name, rows, where, orMore }, wayOut);
  }
}

async function requireFewDeletes(loading: Loading, deleted: number): Promise<void> {
  const { database, assets, mode } = loading;
  const limit = deleteLimit(loading);
  const open = mode === 'scd2' ? ' WHERE valid_to IS NULL' : '';
  const total = `(SELECT count(*) FROM ${doubleQuoted(assets.name)}${open})`;
  const [[rows, most] = []] = await database.rows(`SELECT ${total}, ${mostDeletes(limit, total)}`);
  if (deleted <= Number(most)) return;
  const reasons = await database.rows(
    `SELECT coalesce(reason, 'unlisted'), count(*) FROM ${doubleQuoted(stagedChanges)} WHERE op = 'delete' GROUP BY 1`,
  );
  const byReason: DeletesByReason = Object.fromEntries(
    reasons.map(([reason, count]) => [String(reason), Number(count)]),
  );
  const todo = 'Check the ids of the export. To load it, raise --max-deletes, or use --deletes keep.';
  throw tooManyDeletes([deleted, Number(rows)], byReason, { limit, todo });
}

/** A row may not end before it begins, and versions may not overlap: after a clock that went back they would. */
async function requireLater({ session, assets, loaded }: Loading, at: string): Promise<void> {
  await session.refuseIf({
    query: `SELECT 1 FROM ${doubleQuoted(assets.name)} WHERE valid_from >= ${at} OR valid_to >= ${at} LIMIT 1`,
    error: () =>
      new ExportError('usage', `${loaded.address} started before the newest rows in the table ${assets.name}`, {
        todo: 'Load exports in the order in which they began. If the clock of the machine went back, export again.',
      }),
  });
}

async function countOf(database: Database, from: string): Promise<number> {
  const [[count] = []] = await database.rows(`SELECT count(*) FROM ${from}`);
  return Number(count);
}

/** When the export began, as an expression. @throws {ExportError} `usage` when nothing says so */
function startOf({ finished, startedAtMs }: LoadedExport): string {
  if (startedAtMs !== undefined) return moment(startedAtMs);
  const message = `${finished.folder} does not say when it began: it has neither runs.jsonl nor a column of times`;
  throw new ExportError('usage', message, { todo: 'Export with output.exportedAt: true, or with base.from.' });
}
