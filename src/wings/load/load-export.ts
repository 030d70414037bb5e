import { type Clock, systemClock } from '../../lib/clock.ts';
import { ExportError, messageOf } from '../../lib/export-error.ts';
import { nftView, type LoadPlan, nftViewColumns } from '../warehouse/index.ts';
import { type Database, postgresBlock } from './database.ts';
import { openDuckdb } from './duckdb/duckdb-database.ts';
import { openNewFile } from './duckdb/duckdb-new-file.ts';
import { explainedFailure, type FailedHere } from './explain-failure.ts';
import { shownReason, notMade } from './load-errors.ts';
import { type ExportToLoad, type LoadedExport, openLoadedExport } from './loaded-export.ts';
import { fillTables, type LoadSummary } from './load-rows.ts';
import type { RowsOptions } from './stage-tables.ts';
import { openLoadSession, type LoadSession } from './load-session.ts';
import type { LoadTarget } from './load-target.ts';
import { beginOf, changePatiently, lockLimitMs, selectPostgresSchema } from './opening.ts';
import type { NulRule } from './nul/nul-values.ts';
import { openPostgres } from './postgres/postgres-database.ts';
import { type newColumnRules, prepareTables } from './prepare-tables.ts';
import { filledTables, nameIn } from './table-columns.ts';
import { withoutMiddle } from '../../lib/format-text.ts';
import { literal, doubleQuoted } from '../../lib/sql-text.ts';
import { type Column, wholeName } from '../../core/records/table.ts';

/** The columns that people search, by table. */
const searched: Readonly<Record<string, readonly string[]>> = {
  assets: ['collection', 'ownership_owner'],
  creators: ['address'],
  attributes: ['value'],
};

/**
 * Creates the indexes that are absent, after the rows are kept. SP-GiST takes values of any length: a B-tree refuses one above about
 * 2,700 bytes, and then every later load. @throws {ExportError} `loadFailed` or `unavailable` when one cannot be created
 */
async function createIndexes(database: Database, plan: LoadPlan, schema: string | undefined): Promise<void> {
  for (const table of filledTables(plan)) {
    const columns = searched[table.name.slice(plan.prefix.length)] ?? [];
    const isSearched = (column: Column): boolean => column.type === 'string' && columns.includes(wholeName(column));
    for (const { name } of table.columns.filter(isSearched)) {
      const index = `${table.name}_${name}_spgist`;
      const on = `${nameIn(schema, table.name)} USING spgist (${doubleQuoted(name)})`;
      const create = `CREATE INDEX IF NOT EXISTS ${doubleQuoted(index)} ON ${on};`;
      // CREATE INDEX IF NOT EXISTS needs the owner also where the index is there.
      const isAbsent = `to_regclass(${literal(nameIn(schema, index))}) IS NULL`;
      try {
        await database.run(postgresBlock(`IF ${isAbsent} THEN ${create} END IF;`));
      } catch (error) {
        throw notMade(`the index ${index}`, error, `Fix the cause, then run as the owner of the table:\n${create}`);
      }
    }
  }
}

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
  let moment: FailedHere['moment'] = 'before';
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
  const { schema, newColumns, memoryBytes = standardMemoryBytes } = request;
  const context = { clock: request.clock ?? systemClock, note: noteOf(request) };
  if (target.kind === 'postgres') return openPostgres(target.address, loaded, context, request.nul);
  const { note } = context;
  // Kept assets are in the old file alone, and a diff has no others.
  const isNew = request.mode === 'replace' && (request.deletes ?? 'delete') === 'delete' && !loaded.isDiff;
  const made = isNew ? await openNewFile(target.address, loaded, { schema, newColumns, memoryBytes, note }) : undefined;
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

/** After the rows are kept: whatever happens here is no error. */
async function analyzeTables(
  database: Database,
  plan: LoadPlan,
  { schema, note }: { readonly schema: string | undefined; readonly note: (text: string) => void },
): Promise<void> {
  try {
    // The limit of the load ended with its transaction.
    await database.run(`SET lock_timeout = ${await lockLimitMs(database)}`);
    for (const { name } of filledTables(plan)) await database.run(`ANALYZE ${nameIn(schema, name)};\n`);
  } catch (error) {
    note(`the tables were loaded, but ANALYZE failed: ${shownReason(messageOf(error))}`);
  }
}

/**
 * DuckDB puts a view in the place of any other. PostgreSQL refuses one with other columns.
 * @param place.database an attached database; default: the one in use
 * @throws {ExportError} `loadFailed` where another view, or a table, has the name of the view that a load would make
 */
async function requireOwnView(
  session: LoadSession,
  { prefix }: LoadPlan,
  place: { readonly schema: string | undefined; readonly database: string | undefined },
): Promise<void> {
  if (session.kind !== 'duckdb') return;
  const name = `${prefix}nft_metadata`;
  const database = place.database === undefined ? 'current_database()' : literal(place.database);
  const schema = literal(place.schema ?? 'main');
  const at = (column: string): string =>
    `database_name = ${database} AND lower(schema_name) = lower(${schema}) AND lower(${column}) = lower(${literal(name)})`;
  const columns = `SELECT string_agg(column_name, ', ' ORDER BY column_index) AS columns FROM duckdb_columns() WHERE ${at('table_name')}`;
  const isOurs = `starts_with(${literal(nftViewColumns.join(', '))}, columns) AND EXISTS (FROM duckdb_views() WHERE ${at('view_name')})`;
  await session.refuseIf({
    query: `SELECT columns FROM (${columns}) AS held WHERE columns IS NOT NULL AND NOT (${isOurs})`,
    error: ([held]) => {
      const message = `${name} is a table or view of your own, with the columns ${withoutMiddle(String(held))}`;
      return new ExportError('loadFailed', message, {
        todo: 'Nothing was loaded. Rename it, or load without --views, or with another --prefix.',
      });
    },
  });
}

/** A view over the loaded tables. */
interface MadeView {
  readonly name: string;
  /** The table beside which it stands. */
  readonly beside: string;
  /** `CREATE OR REPLACE VIEW "name" AS …` */
  readonly create: string;
}

/**
 * Makes a view that is absent, or anew where it differs. An equal one is not touched: all who read it would wait, behind whoever has
 * read it before.
 */
function makeViewBlock({ name, beside, create }: MadeView): string {
  const query = create.slice(`CREATE OR REPLACE VIEW ${doubleQuoted(name)}`.length);
  const wanted = 'pg_temp.asset_export_view';
  return `DO ${literal(`DECLARE
  query text := ${literal(query)};
  made text := (SELECT format('%I.%I', nspname, ${literal(name)}::text) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass(${literal(doubleQuoted(beside))}));
  held oid := to_regclass(made);
BEGIN
  EXECUTE 'CREATE VIEW ${wanted}' || query;
  IF NOT EXISTS (SELECT FROM pg_class WHERE oid = held AND relkind = 'v') OR pg_get_viewdef(held) <> pg_get_viewdef('${wanted}'::regclass) THEN
    EXECUTE 'CREATE OR REPLACE VIEW ' || made || query;
  END IF;
  DROP VIEW ${wanted};
END`)};\n`;
}

/** Makes a view after the rows are kept. @throws {ExportError} `loadFailed` or `unavailable` when it cannot be made */
async function makeView(
  database: Database,
  view: MadeView,
  { schema, clock }: { readonly schema: string | undefined; readonly clock: Clock },
): Promise<void> {
  try {
    await changePatiently(database, clock, async () => {
      for (const sql of [...selectPostgresSchema(schema), makeViewBlock(view)]) await database.run(sql);
    });
  } catch (error) {
    const todo = `If ${view.name} is a table or view of your own, rename it. Then run load again with --views.`;
    throw notMade(`the view ${view.name}`, error, todo);
  }
}
