import { type Clock, systemClock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { nftView } from '../warehouse/index.ts';
import { analyzeTables } from './postgres/analyze-tables.ts';
import { createIndexes } from './postgres/create-indexes.ts';
import type { Database } from './database.ts';
import { whyDeleted } from './delete-limit.ts';
import { openDuckdb } from './duckdb/duckdb-database.ts';
import { openNewFile } from './duckdb/duckdb-new-file.ts';
import { requireOwnView } from './duckdb/own-view.ts';
import { type ChangeOptions, loadChanges } from './changes/load-changes.ts';
import { explainedFailure } from './explain-failure.ts';
import type { LoadMoment } from './load-errors.ts';
import { type ExportToLoad, type LoadedExport, openLoadedExport } from './loaded-export.ts';
import { moveRecord, recordLoad, type TableRecord } from './load-record.ts';
import { type LoadSession, openLoadSession } from './load-session.ts';
import type { LoadTarget } from './load-target.ts';
import { beginOf } from './opening.ts';
import type { NulRule } from './nul/nul-values.ts';
import { type MadeView, makeView } from './postgres/make-view.ts';
import { openPostgres } from './postgres/postgres-database.ts';
import { leftTables } from './changes/require-children.ts';
import { type newColumnRules, prepareTables } from './prepare-tables.ts';
import { replaceAll, type ReplaceOptions, type ReplaceReports } from './replace-all.ts';
import { filledTables } from './table-columns.ts';
import { createTables, openLoad, requireNoVersions } from './target-tables.ts';

export interface LoadRequest extends ExportToLoad, ReplaceOptions, ChangeOptions {
  readonly kind: 'duckdb' | 'postgres';
  /** Schema of the tables, created if absent; default: the schema of the connection. */
  readonly schema?: string | undefined;
  /** What becomes of columns that an existing table lacks. */
  readonly newColumns?: (typeof newColumnRules)[number] | undefined;
  /** What becomes of NUL characters, which texts of PostgreSQL cannot hold. Default: `fail`. */
  readonly nul?: NulRule | undefined;
  /** Whether to create the indexes that are absent, in PostgreSQL. */
  readonly indexes?: boolean;
  /** Whether to create the view `nft_metadata`, or to make it anew. */
  readonly views?: boolean;
  /** Memory that DuckDB may take. */
  readonly memoryBytes?: number | undefined;
  readonly clock?: Clock;
  /** Takes what a person should know of a load that succeeds. */
  readonly note?: ((text: string) => void) | undefined;
}

const standardMemoryBytes = 1e9;

/** Rows that went into each table, by name. */
type LoadedRows = Readonly<Record<string, number>>;

/** What a load did. `already`: the tables stood at this export. */
export interface LoadSummary {
  readonly state: 'loaded' | 'merged' | 'already';
  /** Rows that went into each table. */
  readonly tables: LoadedRows;
  /** Assets that were deleted. */
  readonly deleted: number;
  /** Values whose NUL characters were removed or replaced, by column (`assets.content_metadata_name`). */
  readonly nulValues: Readonly<Record<string, number>>;
}

/**
 * Loads a finished export into a database, in one transaction.
 * @param onLoaded takes what it did besides
 * @throws {ExportError} `damaged` when the export is unfinished or damaged, `usage` when it is older than what the tables hold,
 * `notTolerated` when too many assets would be deleted, `unavailable` when the database cannot be reached or a lock is not granted,
 * `loadFailed` when the database refuses, or would not hold the rows of the export
 */
export async function loadExport(
  request: LoadRequest,
  target: LoadTarget,
  onLoaded?: (summary: LoadSummary) => void,
): Promise<LoadedRows> {
  requireFitting(request);
  const loaded = await openLoadedExport(request, request.kind);
  const { schema, clock = systemClock } = request;
  let database: Database | undefined;
  let moment: LoadMoment = 'before';
  let isOpen = false;
  try {
    const opened = await open(target, loaded, request);
    database = opened;
    if (request.views === true) {
      const place = { schema, database: opened.heldDatabase };
      await requireOwnView(openLoadSession(opened), loaded.plan, place);
    }
    await prepareTables(database, loaded.plan, {
      schema,
      newColumns: request.newColumns,
      hasMarks: request.mode === 'merge' && request.deletes === 'mark',
      clock,
      note: noteOf(request),
      guards: () => runGuards(opened, loaded, request),
    });
    await database.run(beginOf[target.kind]);
    isOpen = true;
    const summary = await loadRows(database, loaded, request);
    if (request.views === true && target.kind === 'duckdb') await database.run(viewOf(loaded, request).create);
    moment = 'commit';
    isOpen = false;
    await database.run('COMMIT');
    await database.publish?.();
    if (target.kind === 'postgres') await analyzeTables(database, loaded.plan, { schema, note: noteOf(request) });
    if (request.views === true && target.kind === 'postgres') {
      await makeView(database, viewOf(loaded, request), { schema, clock });
    }
    if (request.indexes === true) await createIndexes(database, loaded.plan, schema);
    onLoaded?.(summary);
    return summary.tables;
  } catch (error) {
    if (isOpen) await database?.run('ROLLBACK').catch(() => undefined);
    if (error instanceof ExportError) throw error;
    throw await explainedFailure(error, { database, loaded, schema, shown: target.shown, moment });
  } finally {
    await database?.close().catch(() => undefined);
  }
}

/** The view over the tables that the export fills. */
function viewOf({ plan }: LoadedExport, { kind, mode }: LoadRequest): MadeView {
  const { prefix } = plan;
  const tables = filledTables(plan).map((table) => ({ ...table, name: table.name.slice(prefix.length) }));
  const create = nftView(kind, { tables, prefix, isVersions: mode === 'scd2' });
  return { name: `${prefix}nft_metadata`, beside: `${prefix}assets`, create };
}

function requireFitting({ kind, mode, deletes, nul = 'fail', indexes = false }: LoadRequest): void {
  if (kind === 'duckdb' && indexes) {
    throw new ExportError('usage', '--indexes works with PostgreSQL', { todo: 'Leave it out.' });
  }
  if (kind === 'duckdb' && nul !== 'fail') {
    throw new ExportError('usage', `--nul ${nul} works with PostgreSQL: DuckDB keeps NUL characters`, {
      todo: 'Leave it out.',
    });
  }
  if (mode !== 'scd2' || deletes !== 'mark') return;
  throw new ExportError('usage', '--deletes mark works with --mode merge: scd2 closes the rows of deleted assets', {
    todo: 'Leave it out.',
  });
}

function noteOf({ note }: LoadRequest): (text: string) => void {
  return note ?? (() => undefined);
}

async function open(target: LoadTarget, loaded: LoadedExport, request: LoadRequest): Promise<Database> {
  const { schema, memoryBytes = standardMemoryBytes } = request;
  const context = { clock: request.clock ?? systemClock, note: noteOf(request) };
  if (target.kind === 'postgres') return openPostgres(target.address, loaded, context, request.nul);
  const { note } = context;
  const made =
    request.mode === 'replace' ? await openNewFile(target.address, loaded, { schema, memoryBytes, note }) : undefined;
  return made ?? openDuckdb(target.address, loaded, memoryBytes);
}

/** Refuses what the load would refuse, and changes nothing. */
async function runGuards(database: Database, loaded: LoadedExport, request: LoadRequest): Promise<void> {
  await database.run(beginOf[database.kind]);
  try {
    await loadRows(database, loaded, { ...request, note: undefined }, true);
  } finally {
    await database.run('ROLLBACK').catch(() => undefined);
  }
}

async function loadRows(
  database: Database,
  loaded: LoadedExport,
  request: LoadRequest,
  isTrial = false,
): Promise<LoadSummary> {
  const { mode } = request;
  const session = openLoadSession(database, isTrial);
  await openLoad(session, loaded.plan, request.schema);
  if (mode === 'replace') {
    const reports: ReplaceReports = {
      note: noteOf(request),
      whyDeleted: (lacking, id, deleted) => whyDeleted(database, loaded.finished, { lacking, id, deleted }),
    };
    const { plan } = loaded;
    await createTables(session, plan);
    await requireNoVersions(session, plan);
    const records = await replaceAll(session, loaded, request, reports);
    await record(session, loaded, { mode, seal: plan.seal, baseSeal: null, records });
    const left = !isTrial ? await leftTables(database, loaded) : undefined;
    if (left !== undefined) reports.note(left);
    const tables = Object.fromEntries(plan.tables.map(({ name, rows }) => [name, rows]));
    const assets = records.find(({ table }) => table === `${plan.prefix}assets`);
    return { state: 'loaded', tables, deleted: assets?.deleted ?? 0, nulValues: nulValuesOf(session) };
  }
  const { state, seal, baseSeal, tables, deleted, records } = await loadChanges(
    { database, session },
    loaded,
    mode,
    request,
  );
  if (state !== 'already') await record(session, loaded, { mode, seal, baseSeal, records });
  else if (!isTrial) await recordSame(session, loaded, seal);
  return { state, tables, deleted, nulValues: nulValuesOf(session) };
}

function nulValuesOf({ nulValues }: LoadSession): LoadSummary['nulValues'] {
  const named = [...nulValues].flatMap(([table, counts]) =>
    Object.entries(counts).map(([column, values]) => [`${table}.${column}`, values] as const),
  );
  return Object.fromEntries(named);
}

async function record(
  session: LoadSession,
  { name, startedAtMs, plan }: LoadedExport,
  { records, ...rest }: { mode: string; seal: string; baseSeal: string | null; records: readonly TableRecord[] },
): Promise<void> {
  if (session.isTrial) return;
  const tables = records.map((each) => {
    const nulValues = session.nulValues.get(each.table.slice(plan.prefix.length));
    return nulValues === undefined ? each : { ...each, nulValues };
  });
  await session.run(recordLoad({ ...rest, name, startedAtMs, tables }));
}

/** The tables hold what this export holds, by an earlier one: the later one is what they hold now. */
async function recordSame(
  session: LoadSession,
  { name, startedAtMs, plan }: LoadedExport,
  seal: string,
): Promise<void> {
  if (startedAtMs === undefined) return;
  const tables = ['assets', ...plan.tables.map((table) => table.name)].map((table) => plan.prefix + table);
  await session.run(moveRecord({ seal, name, startedAtMs }, tables));
}
