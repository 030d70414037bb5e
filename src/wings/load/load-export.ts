import { type Clock, systemClock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { nftView } from '../warehouse/index.ts';
import { analyzeTables } from './postgres/analyze-tables.ts';
import { createIndexes } from './postgres/create-indexes.ts';
import type { Database } from './database.ts';
import { openDuckdb } from './duckdb/duckdb-database.ts';
import { openNewFile } from './duckdb/duckdb-new-file.ts';
import { requireOwnView } from './duckdb/own-view.ts';
import { explainedFailure } from './explain-failure.ts';
import type { LoadMoment } from './load-errors.ts';
import { type ExportToLoad, type LoadedExport, openLoadedExport } from './loaded-export.ts';
import { fillTables, type LoadSummary } from './load-rows.ts';
import type { RowsOptions } from './stage-tables.ts';
import { openLoadSession } from './load-session.ts';
import type { LoadTarget } from './load-target.ts';
import { beginOf } from './opening.ts';
import type { NulRule } from './nul/nul-values.ts';
import { type MadeView, makeView } from './postgres/make-view.ts';
import { openPostgres } from './postgres/postgres-database.ts';
import { type newColumnRules, prepareTables } from './prepare-tables.ts';
import { filledTables } from './table-columns.ts';

export interface LoadRequest extends ExportToLoad, RowsOptions {
  readonly kind: 'duckdb' | 'postgres';
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
}

const standardMemoryBytes = 1e9;

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
): Promise<LoadSummary['tables']> {
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
    const hasNewColumns = await prepareTables(database, loaded.plan, {
      schema,
      newColumns: request.newColumns,
      hasMarks: request.deletes === 'mark',
      clock,
      note: noteOf(request),
      guards: (lacksColumns) => runGuards(opened, loaded, request, lacksColumns),
    });
    await database.run(beginOf[target.kind]);
    isOpen = true;
    const summary = await fillTables(database, loaded, request, { isTrial: false, hasNewColumns });
    if (request.views === true && target.kind === 'duckdb') await database.run(viewOf(loaded, request).create);
    moment = 'commit';
    isOpen = false;
    await database.run('COMMIT');
    // A new file has nothing then.
    if (summary.state === 'loaded') await database.publish?.();
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

function requireFitting({ kind, mode, deletes, nul = 'fail', indexes = false, allowOlder = false }: LoadRequest): void {
  const refused = (problem: string): ExportError => new ExportError('usage', problem, { todo: 'Leave it out.' });
  if (kind === 'duckdb' && indexes) throw refused('--indexes works with PostgreSQL');
  if (kind === 'duckdb' && nul !== 'fail')
    throw refused(`--nul ${nul} works with PostgreSQL: DuckDB keeps NUL characters`);
  if (mode !== 'scd2') return;
  if (allowOlder) throw refused('--allow-older works with --mode replace: versions of scd2 never overlap');
  if (deletes === 'mark')
    throw refused('--deletes mark works with --mode replace: scd2 closes the rows of deleted assets');
}

function noteOf({ note }: LoadRequest): (text: string) => void {
  return note ?? (() => undefined);
}

async function open(target: LoadTarget, loaded: LoadedExport, request: LoadRequest): Promise<Database> {
  const { schema, memoryBytes = standardMemoryBytes } = request;
  const context = { clock: request.clock ?? systemClock, note: noteOf(request) };
  if (target.kind === 'postgres') return openPostgres(target.address, loaded, context, request.nul);
  const { note } = context;
  // Kept assets are in the old file alone, and a diff has no others.
  const isNew = request.mode === 'replace' && (request.deletes ?? 'delete') === 'delete' && !loaded.isDiff;
  const made = isNew ? await openNewFile(target.address, loaded, { schema, memoryBytes, note }) : undefined;
  return made ?? openDuckdb(target.address, loaded, memoryBytes);
}

/** Refuses what the load would refuse, and changes nothing. */
async function runGuards(
  database: Database,
  loaded: LoadedExport,
  request: LoadRequest,
  hasNewColumns: boolean,
): Promise<void> {
  await database.run(beginOf[database.kind]);
  try {
    await fillTables(database, loaded, { ...request, note: undefined }, { isTrial: true, hasNewColumns });
  } finally {
    await database.run('ROLLBACK').catch(() => undefined);
  }
}
