import { type LoadTable, requireFreeNames, rowsAfterLoad, versionNames } from '../warehouse/index.ts';
import { ExportError } from '../../lib/export-error.ts';
import { doubleQuoted } from '../../lib/sql-text.ts';
import { type Database, moment } from './database.ts';
import { requireFewDeletes, requireLoaded, requireNoRows } from './deletes.ts';
import { goneRows, type StagedTable } from './difference.ts';
import type { LoadedExport } from './loaded-export.ts';
import { type LoadWay, moveRecord, recordLoad, type TableRecord } from './load-record.ts';
import { type LoadSession, openLoadSession } from './load-session.ts';
import { holdsMarks, isUnmarked, marksCleared, marksOfGone } from './marks.ts';
import { dropStages, type Loading, type OnItsWay, type RowsOptions, stageTables } from './stage-tables.ts';
import { holdExport, otherThanBase, requireMode, requireNotOlder, standingsOf } from './standing.ts';
import { createTables, keyOf, leftTables, openLoad } from './target-tables.ts';
import { addVersions, type ChangedRows, isOpen, replaceRows } from './change-rows.ts';
import { count } from '../../lib/format-text.ts';

/** What a load did. `already`: the tables stood at this export. */
export interface LoadSummary {
  readonly state: 'loaded' | 'already';
  readonly way: LoadWay | null;
  /** Rows of the export in each table. */
  readonly tables: Readonly<Record<string, number>>;
  /** Rows of `assets` that were inserted or updated. */
  readonly changed: number;
  /** Assets that were deleted. */
  readonly deleted: number;
  /** Values whose NUL characters were removed or replaced, by column (`assets.content_metadata_name`). */
  readonly nulValues: Readonly<Record<string, number>>;
}

/**
 * Brings the tables to the rows of the export, inside the transaction of the caller.
 * @param trial.isTrial whether the guards alone run @param trial.hasNewColumns whether tables lack, or just got, columns of the export
 * @throws {ExportError} `usage` when the tables hold a newer export or one of another mode, `notTolerated` for too many deletes,
 * `loadFailed` when the tables would not hold the rows of the export
 */
export async function fillTables(
  database: Database,
  loaded: LoadedExport,
  options: RowsOptions,
  { isTrial, hasNewColumns }: { readonly isTrial: boolean; readonly hasNewColumns: boolean },
): Promise<LoadSummary> {
  const session = openLoadSession(database, isTrial);
  const { mode, deletes = 'delete', allowOlder = false, skipHeld = false, allowEmpty = false } = options;
  const { plan, changes, base, isDiff, seal } = loaded;
  const assets = plan.tables.find(({ name }) => name === 'assets');
  requireColumns(loaded, options);
  await openLoad(session, plan, options.schema);
  await createTables(session, plan, mode);
  const names = plan.tables.map(({ table }) => table.name);
  const standings = await standingsOf(session, names);
  await requireMode(session, mode, { tables: names, standings });
  const columns = assets?.table.columns.map(({ name }) => name) ?? [];
  const hasMarks =
    mode === 'replace' && assets !== undefined && (await holdsMarks(database, assets.table.name, columns, options));
  const orMore = deletes === 'keep';
  const counted = countedRows({ loaded, options, hasMarks });
  const holds = async (held: string): Promise<boolean> =>
    !hasNewColumns && (await holdExport(session, standings, { seal: held, loaded, counted, orMore }));
  if ((mode === 'scd2' || isDiff || skipHeld) && (await holds(seal))) {
    if (!isTrial) await recordSame(session, loaded);
    return { state: 'already', way: null, tables: {}, changed: 0, deleted: 0, nulValues: {} };
  }
  if (assets?.rows === 0 && !isDiff && !allowEmpty) {
    requireLoaded(loaded, standings);
    await requireNoRows(session, assets.table.name);
  }
  if (!allowOlder) requireNotOlder(loaded, standings, mode);
  const at = mode === 'scd2' || deletes === 'mark' ? startOf(loaded) : '';
  if (mode === 'scd2') await requireLater(session, loaded, at);
  // A new file begins empty, whatever the old one holds.
  const hasChanges = changes !== undefined && base !== undefined && database.heldDatabase === undefined;
  const byChanges = hasChanges && (isDiff || !isTrial) && (await holds(base.seal));
  if (isDiff && !byChanges) throw await otherThanBase(loaded);
  const loading = { database, session, loaded, options, hasMarks, byChanges, at };
  return bring(loading, await stageTables(loading));
}

/** @throws {ExportError} `usage` where the mode needs a column that is absent, or adds one that is there */
function requireColumns({ plan, address, isDiff }: LoadedExport, { mode, deletes = 'delete' }: RowsOptions): void {
  const assets = plan.tables.find(({ name }) => name === 'assets');
  if ((mode === 'scd2' || isDiff || deletes !== 'delete') && (assets === undefined || keyOf(assets) === undefined)) {
    const flag = mode === 'replace' && !isDiff ? `--deletes ${deletes}` : 'this load';
    throw new ExportError('usage', `${flag} needs the column id of the table assets, which this export does not have`, {
      todo: 'Export the table assets with the column id.',
    });
  }
  if (mode !== 'scd2') return;
  const names = plan.tables.flatMap(({ table }) => table.columns.map(({ name }) => name));
  requireFreeNames(address, names, versionNames, '--mode scd2');
}

/** Brings the tables to the rows of the stages, looks at them, and records the load. */
async function bring(loading: Loading, onTheirWay: readonly OnItsWay[]): Promise<LoadSummary> {
  const { session, loaded, options, byChanges, at } = loading;
  const { mode, deletes = 'delete' } = options;
  const limits = { loaded, options };
  if (deletes !== 'keep') await requireFewDeletes(session, onTheirWay, limits);
  const rows = rowsAfterLoad(loaded.finished);
  const summary = { state: 'loaded', tables: rows, changed: 0, deleted: 0, nulValues: {} } as const;
  if (session.isTrial) return { ...summary, way: null };
  const way = await wayOf(loading);
  const done = new Map<string, ChangedRows>();
  if (mode === 'scd2') {
    const tables = onTheirWay.map(({ staged }) => staged);
    done.set('assets', await addVersions(session, tables, { at, keeps: deletes === 'keep' }));
  } else {
    const replaced: OnItsWay[] = [];
    for (const source of loaded.plan.tables) {
      const staged = onTheirWay.find((each) => each.source === source)?.staged;
      if (staged !== undefined) done.set(source.name, await replaceTable(loading, staged, source.name));
      else done.set(source.name, await fillTable(session, source, replaced));
    }
    await requireFewDeletes(session, replaced, limits);
  }
  const stages = onTheirWay.map(({ staged }) => staged.stage);
  await dropStages(session, stages);
  await lookAfter(loading, rows);
  const records = loaded.plan.tables.map(({ name, table }): TableRecord => {
    const nulValues = session.nulValues.get(name);
    const columns = table.columns.map((column) => column.name);
    const record = { table: table.name, rows: rows[name] ?? 0, deleted: done.get(name)?.deleted ?? 0, columns };
    return nulValues === undefined ? record : { ...record, nulValues };
  });
  const { name, seal, startedAtMs, base } = loaded;
  const baseSeal = byChanges ? (base?.seal ?? null) : null;
  await session.run(recordLoad({ mode, way, seal, baseSeal, name, startedAtMs, tables: records }));
  const left = await leftTables(loading.database, loaded);
  if (left !== undefined) options.note?.(left);
  const { written = 0, deleted = 0 } = done.get('assets') ?? {};
  const nulValues = [...session.nulValues].flatMap(([table, counts]) =>
    Object.entries(counts).map(([column, values]) => [`${table}.${column}`, values] as const),
  );
  return { ...summary, way, changed: written, deleted, nulValues: Object.fromEntries(nulValues) };
}

async function wayOf({ session, loaded, byChanges, database }: Loading): Promise<LoadWay> {
  if (byChanges) return 'by changes';
  if (database.heldDatabase !== undefined) return 'new file';
  for (const { table } of loaded.plan.tables) if (!(await session.isEmpty(table.name))) return 'by comparing';
  return 'into empty tables';
}

async function replaceTable(loading: Loading, staged: StagedTable, name: string): Promise<ChangedRows> {
  const { session, options, byChanges, hasMarks, at } = loading;
  const { deletes = 'delete', note = () => undefined } = options;
  const keeps = deletes !== 'delete' && name === 'assets';
  const changed = await replaceRows(session, staged, { isWhole: !byChanges, keeps, note });
  if (name === 'assets' && hasMarks) {
    if (deletes === 'mark') await session.change(marksOfGone(staged, at));
    await session.change(marksCleared(staged));
  }
  return changed;
}

/** Fills a table without rows. @param replaced takes a table of the file that is replaced, with the filled one as its stage */
async function fillTable(session: LoadSession, source: LoadTable, replaced: OnItsWay[]): Promise<ChangedRows> {
  await session.load(source);
  const { table, rows } = source;
  const name = session.heldName(table.name);
  if (name === table.name) return { deleted: 0, written: rows };
  const key = keyOf(source);
  const staged = { table: { ...table, name }, stage: table.name, key, only: 'TRUE', among: 'TRUE', ignored: [] };
  replaced.push({ source, staged });
  return { deleted: key === undefined ? 0 : await session.count(goneRows(staged)), written: rows };
}

/** A condition of the rows that an export gave to a table, by its name: those that are open, or are not of marked assets. */
function countedRows({ loaded, options, hasMarks }: Pick<Loading, 'loaded' | 'options' | 'hasMarks'>) {
  const assets = loaded.plan.tables.find(({ name }) => name === 'assets');
  return (name: string): string => {
    if (options.mode === 'scd2') return isOpen;
    if (!hasMarks || options.deletes !== 'mark' || assets === undefined) return 'TRUE';
    if (name === 'assets') return isUnmarked;
    const [id = ''] = keyOf(assets) ?? [];
    return `held.asset_id NOT IN (SELECT ${doubleQuoted(id)} FROM ${doubleQuoted(assets.table.name)} AS held WHERE NOT ${isUnmarked})`;
  };
}

/**
 * Looks whether each table holds the rows of the export, or at least so many where deleted assets are kept: a trigger, a rule or a person
 * may have removed rows. @throws {ExportError} `loadFailed`
 */
async function lookAfter(loading: Loading, rows: Readonly<Record<string, number>>): Promise<void> {
  const counted = countedRows(loading);
  const compared = loading.options.deletes === 'keep' ? '<' : '<>';
  for (const { name, table } of loading.loaded.plan.tables) {
    const wanted = rows[name] ?? 0;
    const looked = `SELECT count(*) AS held FROM ${doubleQuoted(table.name)} AS held WHERE ${counted(name)}`;
    await loading.session.refuseIf({
      query: `SELECT held FROM (${looked}) AS looked WHERE held ${compared} ${wanted}`,
      error: ([held]) => {
        const rows = `${count(Number(held))} of ${count(wanted)} rows`;
        return new ExportError('loadFailed', `the table ${table.name} would hold ${rows}: not all changes arrived`, {
          todo: 'Rolled back. Rows were changed by hand, or a trigger, a rule or a policy of the table removes rows.',
        });
      },
    });
  }
}

/** The tables hold what this export holds, by an earlier one: the later one is what they hold now. */
async function recordSame(session: LoadSession, { name, startedAtMs, plan, seal }: LoadedExport): Promise<void> {
  if (startedAtMs === undefined) return;
  const tables = plan.tables.map(({ table }) => table.name);
  await session.run(moveRecord({ seal, name, startedAtMs }, tables));
}

/** A row may not end before it begins, and versions may not overlap: after a clock that went back they would. */
async function requireLater(session: LoadSession, { plan, address }: LoadedExport, at: string): Promise<void> {
  const name = `${plan.prefix}assets`;
  await session.refuseIf({
    query: `SELECT 1 FROM ${doubleQuoted(name)} WHERE valid_from > ${at} OR valid_to > ${at} LIMIT 1`,
    error: () =>
      new ExportError('usage', `${address} started before the newest rows in the table ${name}`, {
        todo: 'Load exports in the order in which they began. If the clock of the machine went back, export again.',
      }),
  });
}

/** When the export began, as an expression. @throws {ExportError} `usage` when nothing says so */
function startOf({ finished, startedAtMs }: LoadedExport): string {
  if (startedAtMs !== undefined) return moment(startedAtMs);
  const message = `the manifest of ${finished.folder} does not say when the export began`;
  throw new ExportError('usage', message, {
    todo: 'An older version made it. Export its ids again, or load it with --mode replace.',
  });
}
