import { type FinishedExport, openFinished } from '../../../exports/finished-export.ts';
import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { changesTable } from '../../../core/records/columns.ts';
import { commandLine, shellWord } from '../../../lib/addresses/shown-path.ts';
import { verifyExport } from '../../../exports/verify-export.ts';
import type { FileStore } from '../../../places/files/file-store.ts';
import { loadStatementFor } from '../dialects.ts';
import type { Database } from './database.ts';
import { openDuckdb } from './duckdb-database.ts';
import { type FileReader, type LoadPlan, planLoad, sourceOf } from './load-plan.ts';
import { loadWhole } from './load-whole.ts';
import { type ChangeOptions, type ChangesLoaded, loadChanges } from './load-changes.ts';
import {
  type LoadMode,
  type LoadOptions,
  type LoadStep,
  loadSteps,
  requireNoRowsText,
  requireNoVersionsText,
  versionsOf,
} from './load-steps.ts';
import type { LoadTarget } from './load-target.ts';
import { openPostgres } from './postgres-database.ts';

export interface LoadRequest extends Omit<LoadOptions, 'mode'>, Omit<ChangeOptions, 'mode'> {
  readonly mode: LoadMode;
  readonly files: FileStore;
  /** Of the export, absolute. */
  readonly folder: string;
  /** Put before the name of every table. */
  readonly prefix?: string | undefined;
}

/** Rows that went into each table, by name. */
type LoadedRows = Readonly<Record<string, number>>;

/** What a load of changes did besides. */
export type OnChanges = (loaded: ChangesLoaded) => void;

/**
 * Loads a finished export into a database, in one transaction.
 * @throws {ExportError} `damaged` when the export is unfinished or damaged, `loadFailed` when the database refuses or
 * the connection breaks, `notTolerated` when assets that are there would be replaced by none
 */
export async function loadExport(request: LoadRequest, target: LoadTarget, onChanges?: OnChanges): Promise<LoadedRows> {
  const load = await prepareLoad(request, request.kind);
  let database: Database | undefined;
  let isCommitting = false;
  try {
    database = await open(target, load);
    await database.run('BEGIN');
    const rows = await loadRows(database, load, request, onChanges);
    isCommitting = true;
    await database.run('COMMIT');
    return rows;
  } catch (error) {
    await database?.run('ROLLBACK').catch(() => undefined);
    if (error instanceof ExportError) throw error;
    // The cause stays out of the message's way: a driver's error may hold the address.
    const reason = reasonOf(error);
    const todo =
      isCommitting && target.kind === 'postgres' && !isRefusal(error) ? lookFirst : todoFor(reason, request.folder);
    throw new ExportError('loadFailed', `${target.shown}: ${reason}`, { todo });
  } finally {
    await database?.close().catch(() => undefined);
  }
}

/** The same as a script, for DuckDB's shell or psql. @throws {ExportError} `usage` also when psql reads none of the files */
export async function loadScript(request: LoadRequest): Promise<string> {
  const { folder, kind, mode } = request;
  if (mode === 'merge' || mode === 'scd2') {
    throw new ExportError(
      'usage',
      `--sql cannot check which export the tables hold, and --mode ${mode} requires this check`,
      {
        todo: `Load without --sql, or take the statements from asset-export schema --for ${kind} --mode ${mode}.`,
      },
    );
  }
  const { plan, steps } = await prepareLoad(request, kind === 'postgres' ? 'psql' : kind);
  const texts = steps.map((step) => {
    if (step.kind === 'run') return step.sql;
    if (step.kind === 'requireNoVersions') return requireNoVersionsText(kind, step.tables);
    if (step.kind === 'requireNoRows') return requireNoRowsText(kind, step.table);
    return loadStatementFor(kind, sourceOf(step.source, plan, folder));
  });
  // A file that psql cannot read is no error of the server's: it would commit the emptied tables.
  const start = kind === 'postgres' ? '\\set ON_ERROR_STOP on\n' : '';
  return [`${start}BEGIN;\n`, ...texts, 'COMMIT;\n'].join('\n');
}

interface PreparedLoad {
  readonly finished: FinishedExport;
  readonly plan: LoadPlan;
  readonly steps: readonly LoadStep[];
}

async function prepareLoad(request: LoadRequest, reader: FileReader): Promise<PreparedLoad> {
  const { files, folder, prefix } = request;
  const { damage } = await verifyExport(files, folder);
  const [first] = damage;
  if (first !== undefined) {
    throw new ExportError('damaged', `${folder} is damaged: ${first.path}: ${first.problem}`, {
      todo: `Nothing was loaded. Every problem: ${commandLine('verify', folder)}`,
      facts: { problems: damage.length },
    });
  }
  const finished = await openFinished(folder, files);
  const plan = planLoad(finished, reader, prefix);
  const { mode } = request;
  if (mode === 'merge' || mode === 'scd2') return { finished, plan, steps: [] };
  if (finished.manifest.kind === 'diff') {
    throw new ExportError('usage', `${folder} is a diff: it holds changes, not a whole export`, {
      todo: 'Load it with --mode merge or scd2.',
    });
  }
  // What changed is for merge and scd2.
  const whole = { ...plan, tables: plan.tables.filter(({ name }) => name !== changesTable.name) };
  return { finished, plan: whole, steps: loadSteps(whole, { ...request, mode }) };
}

async function open(target: LoadTarget, { plan, finished }: PreparedLoad): Promise<Database> {
  return target.kind === 'duckdb'
    ? openDuckdb(target.address, plan, finished.folder)
    : openPostgres(target.address, plan, finished);
}

async function loadRows(
  database: Database,
  load: PreparedLoad,
  request: LoadRequest,
  onChanges: OnChanges | undefined,
): Promise<LoadedRows> {
  const { mode } = request;
  if (mode !== 'merge' && mode !== 'scd2') return loadAll(load.steps, database);
  const loaded = await loadChanges(database, load, { ...request, mode });
  onChanges?.(loaded);
  return loaded.tables;
}

async function loadAll(steps: readonly LoadStep[], database: Database): Promise<LoadedRows> {
  const loaded: Record<string, number> = {};
  for (const step of steps) {
    if (step.kind === 'run') {
      await database.run(step.sql);
      continue;
    }
    if (step.kind === 'requireNoVersions') {
      const [found] = await database.rows(`SELECT "table" FROM ${versionsOf(step.tables)}`);
      if (found !== undefined) throw holdsVersions(String(found[0]));
      continue;
    }
    if (step.kind === 'requireNoRows') {
      if (await database.hasRows(step.table)) throw wouldEmpty(step.table.name);
      continue;
    }
    const { name, table } = step.source;
    // The staged assets of an upsert are those of the export too.
    loaded[name] = await loadWhole(database, step.source, table);
  }
  return loaded;
}

function holdsVersions(table: string): ExportError {
  return new ExportError(
    'usage',
    `the table ${table} was loaded with --mode scd2: this mode would mix or remove its versions`,
    {
      todo: 'Load with --mode scd2, or into other tables with --schema or --prefix.',
    },
  );
}

function wouldEmpty(table: string): ExportError {
  return new ExportError(
    'notTolerated',
    `the table ${table} has rows, but the export has none: refusing to empty the table`,
    {
      todo: 'Rolled back. Check the ids of the export. To empty the table, use --allow-empty.',
    },
  );
}

/** PostgreSQL says in `detail` what exactly it does not take. */
function reasonOf(error: unknown): string {
  const detail = error instanceof Error && 'detail' in error ? error.detail : undefined;
  return typeof detail === 'string' ? `${messageOf(error)}: ${detail}` : messageOf(error);
}

/** What PostgreSQL itself refuses has a severity and is not kept; class 08 is a pooler's word that it lost the server. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'severity' in error && codeOf(error)?.startsWith('08') !== true;
}

const lookFirst =
  'The connection broke during COMMIT, so the rows may have been kept. Check the tables before you load again with --mode append.';

function todoFor(reason: string, folder: string): string {
  if (/\\u0000|surrogate/.test(reason)) {
    const url = shellWord(`embedded:${folder}`);
    return `Rolled back. The database cannot read this escape in JSONL. Export as csv or parquet (no credits with --url ${url}) and load that.`;
  }
  if (/0x00|null byte/i.test(reason)) {
    return 'Rolled back. PostgreSQL text cannot hold a NUL character. Load into DuckDB, or omit the column (output.exclude).';
  }
  if (/duplicate key/i.test(reason))
    return 'Rolled back. The table already has some of these rows. Load with --mode upsert.';
  if (/column/i.test(reason))
    return 'Rolled back. An existing table has different columns. Alter or drop it and run load again.';
  return 'Rolled back. Fix the cause and run load again.';
}
