import { codeOf, ExportError, messageOf } from '../lib/export-error.ts';
import { shellWord } from '../lib/shown-path.ts';
import { verifyExport } from '../pipeline/verify-export.ts';
import type { FileStore } from '../store/file-store.ts';
import { readManifest } from '../store/manifest.ts';
import { loadStatementFor } from '../warehouse/dialects.ts';
import type { Database } from './database.ts';
import { openDuckdb } from './duckdb-database.ts';
import { type FileReader, type LoadPlan, planLoad } from './load-plan.ts';
import { sourceOf } from './load-source.ts';
import { type LoadMode, type LoadStep, loadSteps } from './load-steps.ts';
import type { LoadTarget } from './load-target.ts';
import { openPostgres } from './postgres-database.ts';

export interface LoadRequest {
  readonly files: FileStore;
  /** Of the export, absolute. */
  readonly folder: string;
  readonly kind: LoadTarget['kind'];
  readonly mode: LoadMode;
}

/** Rows that went into each table, by name. */
export type LoadedRows = Readonly<Record<string, number>>;

/**
 * Loads a finished export into a database, in one transaction.
 * @throws {ExportError} `damaged` when the export is unfinished or damaged, `cannotWrite` when the database refuses or
 * the connection breaks
 */
export async function loadExport(request: LoadRequest, target: LoadTarget): Promise<LoadedRows> {
  const { plan, steps } = await prepareLoad(request, request.kind);
  let database: Database | undefined;
  let isCommitting = false;
  try {
    database = await open(request, target, plan);
    await database.run('BEGIN');
    const rows = await loadAll(steps, database);
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
    throw new ExportError('cannotWrite', `${target.shown}: ${reason}`, { todo });
  } finally {
    await database?.close().catch(() => undefined);
  }
}

/** The same as a script, for DuckDB's shell or psql. @throws {ExportError} `usage` also when psql reads none of the files */
export async function loadScript(request: LoadRequest): Promise<string> {
  const { folder, kind } = request;
  const { plan, steps } = await prepareLoad(request, kind === 'postgres' ? 'psql' : kind);
  const texts = steps.map((step) =>
    step.kind === 'run' ? step.sql : loadStatementFor(kind, sourceOf(step.source, plan, folder)),
  );
  // A file that psql cannot read is no error of the server's: it would commit the emptied tables.
  const start = kind === 'postgres' ? '\\set ON_ERROR_STOP on\n' : '';
  return [`${start}BEGIN;\n`, ...texts, 'COMMIT;\n'].join('\n');
}

async function prepareLoad(
  { files, folder, kind, mode }: LoadRequest,
  reader: FileReader,
): Promise<{ plan: LoadPlan; steps: LoadStep[] }> {
  const { damage } = await verifyExport(files, folder);
  const [first] = damage;
  if (first !== undefined) {
    throw new ExportError('damaged', `${folder} is damaged: ${first.path}: ${first.problem}`, {
      todo: `asset-export verify ${folder} lists all that is wrong. Nothing was loaded.`,
      facts: { problems: damage.length },
    });
  }
  const manifest = await readManifest(files, folder);
  if (manifest === undefined) throw new ExportError('damaged', `${folder} has lost its manifest`);
  const plan = planLoad(manifest, reader);
  return { plan, steps: loadSteps(plan, kind, mode) };
}

async function open({ files, folder }: LoadRequest, target: LoadTarget, plan: LoadPlan): Promise<Database> {
  return target.kind === 'duckdb'
    ? openDuckdb(target.address, plan, folder)
    : openPostgres(target.address, { plan, files, folder });
}

async function loadAll(steps: readonly LoadStep[], database: Database): Promise<LoadedRows> {
  const loaded: Record<string, number> = {};
  for (const step of steps) {
    if (step.kind === 'run') {
      await database.run(step.sql);
      continue;
    }
    const { table, rows, files } = step.source;
    const got = await database.load(step.source);
    if (got !== rows) {
      throw new ExportError('cannotWrite', `${table.name} took ${got} of ${rows} rows`, { todo: 'Nothing was kept.' });
    }
    loaded[files[0]?.split('/')[1] ?? table.name] = got;
  }
  return loaded;
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
  'The connection broke at COMMIT, and whether the rows were kept is not known: look into the tables before you load with --mode append again.';

function todoFor(reason: string, folder: string): string {
  if (/\\u0000|surrogate/.test(reason)) {
    const url = shellWord(`embedded:${folder}`);
    return `The database takes this escape out of no JSONL. Nothing was kept: export as csv or parquet, for no credits with --url ${url}, and load that.`;
  }
  if (/0x00|null byte/i.test(reason)) {
    return "PostgreSQL's text holds no NUL character. Nothing was kept: load into DuckDB, or leave the column out (output.exclude).";
  }
  if (/column/i.test(reason))
    return 'A table there has other columns. Nothing was kept: alter or drop it, and load again.';
  return 'Nothing was kept: load again when it is mended.';
}
