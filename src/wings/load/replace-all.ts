import type { LoadTable } from '../warehouse/index.ts';
import { ExportError } from '../../lib/export-error.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import { type DeleteLimit, deleteLimit, type DeletesByReason, mostDeletes, tooManyDeletes } from './delete-limit.ts';
import { type Difference, differenceOf, rowsNotStaged, type StagedTable } from './difference.ts';
import { requireHeld } from './held-rows.ts';
import type { LoadedExport } from './loaded-export.ts';
import type { TableRecord } from './load-record.ts';
import type { LoadSession } from './load-session.ts';
import { dropStages, loadStage } from './stages.ts';
import { moment } from './sql-words.ts';
import { columnsQuery } from './table-columns.ts';
import { keyOf, lockTables, loadRecordsOf } from './target-tables.ts';

export interface ReplaceOptions extends DeleteLimit {
  /** An export may replace one that started later. */
  readonly allowOlder?: boolean;
}

/** What a load says besides its errors, and what only a database can answer. */
export interface ReplaceReports {
  readonly note: (text: string) => void;
  /** Why ids are deleted. @param lacking the rows of the table whose ids the export lacks, behind FROM */
  readonly whyDeleted: (lacking: string, id: string, deleted: number) => Promise<DeletesByReason>;
}

/**
 * Brings the tables to the rows of the export: those without rows by one load, all others by stage and difference.
 * @throws {ExportError} `usage` for an export that is older than what the tables hold, `notTolerated` for too many deletes
 */
export async function replaceAll(
  session: LoadSession,
  loaded: LoadedExport,
  options: ReplaceOptions,
  reports: ReplaceReports,
): Promise<TableRecord[]> {
  const { tables } = loaded.plan;
  const assets = tables.find(({ name }) => name === 'assets');
  if (assets?.rows === 0 && options.allowEmpty !== true) await requireNoRows(session, assets.table.name);
  if (options.allowOlder !== true) await requireNotOlder(session, loaded, reports);
  if (session.kind === 'postgres') await session.run(roomForJoins);
  const stages = new Map<string, StagedTable>();
  for (const source of tables) {
    if ((session.isTrial && source !== (assets ?? source)) || (await session.isEmpty(source.table.name))) continue;
    const stage = await loadStage(session, source);
    const key = session.isTrial ? await keyInTable(session, source) : keyOf(source);
    stages.set(source.name, { table: source.table, stage, key });
  }
  await lockTables(
    session,
    tables.map(({ table }) => table.name),
  );
  const staged = stages.get('assets');
  const few = { limit: deleteLimit(options), reports };
  if (assets === undefined) await requireFewDeletes(session, idsInChildren([...stages.values()]), few);
  else if (staged !== undefined) await requireFewDeletes(session, idsInAssets(assets, staged), few);
  if (session.isTrial) return [];
  const records: TableRecord[] = [];
  const heldTables: StagedTable[] = [];
  for (const source of tables) {
    const { name } = source.table;
    const stage = stages.get(source.name);
    let deleted = 0;
    if (stage !== undefined) deleted = await applyDifference(session, stage, reports);
    else await session.load(source);
    if (stage !== undefined && source === assets) await session.clearMarks(source.table);
    if (stage === undefined && session.heldName(name) !== name) {
      const held = heldElsewhere(session, source);
      if (source === assets) await requireFewDeletes(session, idsInAssets(source, held), few);
      heldTables.push(held);
      deleted = held.key === undefined ? 0 : await session.count(rowsNotStaged(held));
    }
    await requireHeld(session, { table: name, rows: source.rows }, 'not all changes arrived');
    records.push({ table: name, rows: source.rows, deleted });
  }
  if (assets === undefined) await requireFewDeletes(session, idsInChildren(heldTables), few);
  await dropStages(
    session,
    [...stages.values()].map(({ stage }) => stage),
  );
  return records;
}

/** Memory for the joins of tables and stages: with the usual 4 MB they would go over the disk in many pieces. */
const roomForJoins = `SELECT set_config('work_mem', '128MB', true) WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('128MB');\n`;

/** A table of the file that is replaced, with the loaded table as its stage. */
function heldElsewhere(session: LoadSession, source: LoadTable): StagedTable {
  const { table } = source;
  const held = { ...table, name: session.heldName(table.name) };
  return { table: held, stage: table.name, key: keyOf(source) };
}

/** The key of a table that may lack it: then no row of the export is there. */
async function keyInTable(session: LoadSession, source: LoadTable): Promise<string[] | undefined> {
  const key = keyOf(source);
  if (key === undefined) return undefined;
  const columns = columnsQuery(session.kind, undefined, source.table.name);
  const held = `(${columns}) AS held WHERE name IN (${key.map(literal).join(', ')})`;
  return (await session.count(held)) === key.length ? key : [];
}

/** Resolves to the number of rows that went without a successor. */
async function applyDifference(session: LoadSession, staged: StagedTable, { note }: ReplaceReports): Promise<number> {
  const { removeTwins, remove, update, insert } = differenceOf(session.kind, staged);
  const { name } = staged.table;
  const { key } = staged;
  if (key === undefined || removeTwins === undefined) {
    note(`the table ${name} has no key: all its rows were deleted and inserted`);
  } else if (!(await session.hasUniqueKey(name, key))) {
    const twins = await session.run(removeTwins);
    if (twins > 0) note(`the key of the table ${name} is not unique: ${twins} rows were deleted and inserted`);
  }
  const deleted = await session.run(remove);
  await updateAndInsert(session, { update, insert });
  return deleted;
}

export async function updateAndInsert(
  session: LoadSession,
  { update, insert }: Pick<Difference, 'update' | 'insert'>,
): Promise<void> {
  if (update !== undefined) {
    await session.run(update.list);
    await session.change(update.change);
    await session.run(update.dropList);
  }
  await session.change(insert);
}

async function requireNotOlder(session: LoadSession, loaded: LoadedExport, { note }: ReplaceReports): Promise<void> {
  const { plan, name, startedAtMs } = loaded;
  if (startedAtMs === undefined) {
    note(`${name} does not say when it began: not checked whether the tables hold a newer export`);
    return;
  }
  await session.refuseIf({
    query: `SELECT "table", export FROM ${loadRecordsOf(session, plan, `started_at > ${moment(startedAtMs)}`)} ORDER BY 1 LIMIT 1`,
    error: ([table, held]) => holdsNewer(`the table ${String(table)}`, String(held), { name, canReplace: true }),
  });
}

/**
 * @param subject what holds it
 * @param held the folder name of the newer export
 * @param name the folder name of the export to load
 */
export function holdsNewer(
  subject: string,
  held: string,
  { name, canReplace }: { readonly name: string; readonly canReplace: boolean },
): ExportError {
  const wayOut = canReplace ? ', or with --mode replace --allow-older' : ' (--schema, --prefix)';
  return new ExportError(
    'usage',
    `${subject} holds ${held}, which is newer than ${name}: load it into other tables${wayOut}`,
  );
}

/** Assets that are held, and those that the export lacks. */
interface HeldIds {
  /** Counts, as expressions. */
  readonly total: string;
  readonly deleted: string;
  /** Ids that the export lacks, behind FROM, and their column; undefined where there is none. */
  readonly lacking: string;
  readonly id: string | undefined;
}

function idsInAssets({ rows }: LoadTable, staged: StagedTable): HeldIds {
  const table = staged.table.name;
  const total = `(SELECT count(*) FROM ${doubleQuoted(table)})`;
  const lacking = rowsNotStaged(staged);
  const deleted = staged.key === undefined ? `greatest(${total} - ${rows}, 0)` : `(SELECT count(*) FROM ${lacking})`;
  return { total, deleted, lacking, id: staged.key?.[0] };
}

/** Where the export has no table of assets: the ids in all child tables. */
function idsInChildren(children: readonly StagedTable[]): HeldIds | undefined {
  const known = children.filter(({ key = [] }) => key.length > 0);
  const [first] = known;
  if (first === undefined) return undefined;
  const id = first.key?.[0] ?? '';
  const ids = (names: readonly string[]): string =>
    `(${names.map((name) => `SELECT DISTINCT ${doubleQuoted(id)} FROM ${doubleQuoted(name)}`).join(' UNION ')})`;
  const held = ids(known.map(({ table }) => table.name));
  const staged = ids(known.map(({ stage }) => stage));
  const lacking = `${held} AS held WHERE NOT EXISTS (SELECT 1 FROM ${staged} AS staged WHERE staged.${doubleQuoted(id)} = held.${doubleQuoted(id)})`;
  const count = (from: string): string => `(SELECT count(*) FROM ${from})`;
  return { total: count(`${held} AS held`), deleted: count(lacking), lacking, id };
}

async function requireFewDeletes(
  session: LoadSession,
  ids: HeldIds | undefined,
  { limit, reports }: { readonly limit: string; readonly reports: ReplaceReports },
): Promise<void> {
  if (ids === undefined) return;
  const { total, deleted, lacking, id } = ids;
  const counted = `SELECT ${deleted} AS deleted, ${total} AS total`;
  await session.refuseIf({
    query: `SELECT deleted, total FROM (${counted}) AS counted WHERE deleted > ${mostDeletes(limit, 'total')}`,
    error: async (row) => {
      const [gone, all] = [Number(row[0]), Number(row[1])];
      const byReason = id === undefined ? undefined : await reports.whyDeleted(lacking, id, gone);
      const todo = 'Check the ids of the export. If the table is to hold another export, use --max-deletes 100%.';
      return tooManyDeletes([gone, all], byReason, { limit, todo });
    },
  });
}

async function requireNoRows(session: LoadSession, table: string): Promise<void> {
  await session.refuseIf({
    query: `SELECT 1 FROM ${doubleQuoted(session.heldName(table))}`,
    error: () =>
      new ExportError(
        'notTolerated',
        `the table ${table} has rows, but the export has none: refusing to empty the table`,
        { todo: 'Rolled back. Check the ids of the export. To empty the table, use --allow-empty.' },
      ),
  });
}
