import { dirname, join } from 'node:path';
import type { FinishedExport } from '../../../exports/finished-export.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { commandLine, shellWord } from '../../../lib/addresses/shown-path.ts';
import { changeColumns, changesTable } from '../../../core/records/columns.ts';
import { isIdColumn } from '../../../core/records/table.ts';
import { contentSeal } from '../../../places/export/content-seal.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import { startOfExport } from '../../../core/run/record/run-record.ts';
import {
  type ChangedTables,
  type ChangeStyle,
  type DeleteRule,
  type FilledTable,
  insertText,
  mergeStatements,
  plainUpdate,
  scd2Statements,
} from '../change-statements.ts';
import { validColumns } from '../valid-columns.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import { ddlFor } from '../dialects.ts';
import type { Database } from './database.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';
import { loadWhole, stage } from './load-whole.ts';
import { loadsTable, recordLoad } from './load-record.ts';
import { requireSameChildren } from './require-children.ts';
import { openingSteps } from './load-steps.ts';

export interface ChangeOptions {
  readonly kind: 'duckdb' | 'postgres';
  readonly mode: 'merge' | 'scd2';
  readonly schema?: string | undefined;
  readonly deletes?: DeleteRule | undefined;
  /** Most deletes: a count, or a share of the rows of assets such as `5%`. */
  readonly maxDeletes?: string | undefined;
}

/** `already`: the tables stood at this export. */
export interface ChangesLoaded {
  readonly state: 'loaded' | 'merged' | 'already';
  /** Rows that went into each table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly deleted: number;
}

interface Named {
  readonly name: string;
  readonly seal: string;
}

/** What is loaded, and onto what. */
interface Loading extends ChangeOptions {
  readonly finished: FinishedExport;
  readonly plan: LoadPlan;
  readonly database: Database;
  readonly seal: string;
  /** The export that its changes were made from; undefined for one without changes. */
  readonly base: Named | undefined;
  /** The table of assets in the database: all its columns that the export fills. */
  readonly assets: FilledTable;
}

const stagedChanges = 'asset_export_changes';
const stagedRows = 'asset_export_incoming';

/**
 * Brings tables from the export at which they stand to the next one, inside the transaction of the caller. The first load takes a whole export.
 * @throws {ExportError} `usage` when the tables stand elsewhere, `notTolerated` for too many deletes
 */
export async function loadChanges(
  database: Database,
  { finished, plan }: { readonly finished: FinishedExport; readonly plan: LoadPlan },
  options: ChangeOptions,
): Promise<ChangesLoaded> {
  const { manifest }: { readonly manifest: FinishedExport['manifest'] & { readonly base?: Named | undefined } } =
    finished;
  const { diff, base } = manifest;
  const hasChanges = plan.tables.some(({ name }) => name === changesTable.name);
  const loading: Loading = {
    ...options,
    finished,
    plan,
    database,
    seal: diff?.to.seal ?? contentSeal(manifest),
    base: diff?.from ?? (hasChanges ? base : undefined),
    assets: assetsOf(plan),
  };
  for (const sql of openingSteps(plan, options)) await database.run(sql);
  if (options.kind === 'postgres')
    await database.run(`LOCK TABLE ${doubleQuoted(loadsTable)} IN SHARE ROW EXCLUSIVE MODE;\n`);
  const [standing] = await database.rows(
    `SELECT mode, seal FROM ${doubleQuoted(loadsTable)} WHERE "table" = ${literal(loading.assets.name)}`,
  );
  const [mode, seal] = (standing ?? []) as (string | null | undefined)[];
  if (typeof mode === 'string' && !fits(options.mode, mode)) throw otherMode(loading, mode);
  if (seal !== undefined && seal === loading.seal) return { state: 'already', tables: {}, deleted: 0 };
  const done =
    standing === undefined && diff === undefined ? await loadFirst(loading) : await applyTo(loading, seal ?? undefined);
  const names = Object.keys(done.tables).map(
    (name) => plan.tables.find((each) => each.name === name)?.table.name ?? loading.assets.name,
  );
  const baseSeal = done.state === 'merged' ? (loading.base?.seal ?? null) : null;
  await database.run(recordLoad(names, { mode: options.mode, seal: loading.seal, baseSeal }));
  return done;
}

function fits(mode: ChangeOptions['mode'], standing: unknown): boolean {
  return mode === 'scd2' ? standing === 'scd2' : standing !== 'scd2';
}

function otherMode({ mode, assets }: Loading, standing: string): ExportError {
  return new ExportError('usage', `the table ${assets.name} was loaded with --mode ${standing}, not --mode ${mode}`, {
    todo: `Load with --mode ${standing}, or into other tables with --schema or --prefix.`,
  });
}

/** The table of assets as the changes or the whole export fill it. */
function assetsOf({ tables, prefix }: LoadPlan): FilledTable {
  const found = tables.find(({ name }) => name === changesTable.name) ?? tables.find(({ name }) => name === 'assets');
  const columns = found?.table.columns.filter(({ name }) => !changeColumns.includes(name)) ?? [];
  const id = columns.find(isIdColumn)?.name;
  if (id !== undefined) return { name: `${prefix}assets`, columns: columns.map(({ name }) => name), id };
  throw new ExportError('usage', 'this mode needs the column id of the table assets, which this export does not have', {
    todo: 'Export the table assets with the column id.',
  });
}

/** The tables of the export but `changes`. */
function wholeTables({ tables }: LoadPlan): LoadTable[] {
  return tables.filter(({ name }) => name !== changesTable.name);
}

async function loadFirst(loading: Loading): Promise<ChangesLoaded> {
  const { plan, database, kind, mode } = loading;
  const at = mode === 'scd2' ? await startOf(loading) : '';
  const rows: Record<string, number> = {};
  for (const source of wholeTables(plan)) {
    const { table } = source;
    const id = source.name === 'assets' ? loading.assets.id : 'asset_id';
    await database.run(createTable(source, loading));
    if (await database.hasRows(table)) throw notFirst(table.name);
    if (mode === 'merge') {
      rows[source.name] = await loadWhole(database, source, table);
      continue;
    }
    rows[source.name] = await stage(database, kind, source, stagedRows);
    const filled = { name: table.name, columns: table.columns.map(({ name }) => name), id };
    const fixed = [{ column: 'valid_from', value: at }];
    await database.run(insertText(filled, { quote: doubleQuoted }, { from: stagedRows, fixed }));
    await database.run(`DROP TABLE ${doubleQuoted(stagedRows)};\n`);
  }
  return { state: 'loaded', tables: rows, deleted: 0 };

  function createTable(source: LoadTable, { assets }: Loading): string {
    const key = source.name === 'assets' ? [assets.id] : ['asset_id', 'position'];
    const columns = [...source.table.columns, ...(mode === 'scd2' ? validColumns : [])];
    const keys = { key: mode === 'scd2' ? [...key, 'valid_from'] : key };
    // In DuckDB a row with the key of one that was deleted in the same transaction is refused.
    const table = { ...source.table, columns, ...(kind === 'postgres' ? keys : {}) };
    return ddlFor(kind, table).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS');
  }
}

function notFirst(table: string): ExportError {
  return new ExportError(
    'usage',
    `the table ${table} has rows, and ${loadsTable} does not record which export they came from`,
    {
      todo: 'Load a whole export with --mode replace first, or load into other tables with --schema or --prefix.',
    },
  );
}

async function applyTo(loading: Loading, standing: unknown): Promise<ChangesLoaded> {
  const { plan, database, kind, mode, assets, base, deletes = 'delete' } = loading;
  if (base === undefined || standing !== base.seal) throw await elsewhere(loading);
  await requireSameChildren(database, loading.finished.folder, plan, base);
  if (mode === 'scd2' && deletes === 'mark') {
    throw new ExportError('usage', '--deletes mark works with --mode merge: scd2 closes the rows of deleted assets', {
      todo: 'Leave it out.',
    });
  }
  const needsTime = mode === 'scd2' || deletes === 'mark';
  const at = needsTime ? await startOf(loading) : '';
  if (deletes === 'mark') {
    const type = kind === 'duckdb' ? 'TIMESTAMPTZ' : 'timestamp(6) with time zone';
    await database.run(`ALTER TABLE ${doubleQuoted(assets.name)} ADD COLUMN IF NOT EXISTS deleted_at ${type};\n`);
  }
  const changes = plan.tables.find(({ name }) => name === changesTable.name);
  if (changes === undefined) throw await elsewhere(loading);
  await stage(database, kind, changes, stagedChanges);
  if (mode === 'scd2') await requireLater(loading, at);
  const deleted = await countOf(database, `${doubleQuoted(stagedChanges)} WHERE op = 'delete'`);
  if (deletes !== 'keep') await requireFewDeletes(loading, deleted);
  const children = wholeTables(plan).filter(({ name }) => name !== 'assets');
  const rows: Record<string, number> = {
    assets: await countOf(database, `${doubleQuoted(stagedChanges)} WHERE op <> 'delete'`),
  };
  const changed = `SELECT ${doubleQuoted(assets.id)} FROM ${doubleQuoted(stagedChanges)} WHERE op <> 'delete'`;
  const staged: ChangedTables['children'][number][] = [];
  for (const [index, child] of children.entries()) {
    const name = `${stagedRows}_${index}`;
    await stage(database, kind, child, name);
    rows[child.name] = await countOf(database, `${doubleQuoted(name)} WHERE asset_id IN (${changed})`);
    staged.push({
      name: child.table.name,
      columns: child.table.columns.map((column) => column.name),
      id: 'asset_id',
      staged: name,
    });
  }
  const tables: ChangedTables = { assets, changes: stagedChanges, children: staged };
  const style: ChangeStyle = { quote: doubleQuoted, update: plainUpdate, at };
  const statements = mode === 'merge' ? mergeStatements : scd2Statements;
  for (const sql of statements(tables, style, deletes)) await database.run(sql);
  for (const name of [stagedChanges, ...staged.map((each) => each.staged)])
    await database.run(`DROP TABLE ${doubleQuoted(name)};\n`);
  return { state: 'merged', tables: rows, deleted };
}

/** Names the export to load first, where it is still there. */
async function elsewhere({ finished, assets, base, mode }: Loading): Promise<ExportError> {
  const { files, folder } = finished;
  const compare = `compare this export with the one that the table holds (${commandLine('diff', 'OLDER', folder, '--out', 'DIR')}) and load DIR`;
  // Rows of scd2 are versions: replace would remove them.
  const whole =
    mode === 'merge' ? ', or load it with --mode replace' : ', or load it into other tables with --schema or --prefix';
  if (base === undefined) {
    return new ExportError('usage', `${folder} has no table changes`, { todo: `To load it, ${compare}${whole}.` });
  }
  const earlier = join(dirname(folder), base.name);
  const isThere = (await files.sizeOf(pathIn(earlier, exportPaths.manifest))) !== undefined;
  const seal = `seal ${base.seal.slice(0, 12)}`;
  return new ExportError(
    'usage',
    `${folder} has the changes since ${base.name} (${seal}), which the table ${assets.name} does not hold`,
    {
      todo: isThere
        ? `Load ${shellWord(earlier)} first, with --mode ${mode}.`
        : `${base.name} is not beside it. If it was pruned, ${compare}${whole}.`,
    },
  );
}

async function requireFewDeletes(
  { database, assets, mode, maxDeletes = '5%' }: Loading,
  deleted: number,
): Promise<void> {
  const open = mode === 'scd2' ? ' WHERE valid_to IS NULL' : '';
  const rows = await countOf(database, `${doubleQuoted(assets.name)}${open}`);
  const share = maxDeletes.endsWith('%');
  const most = share ? Math.floor((rows * Number(maxDeletes.slice(0, -1))) / 100) : Number(maxDeletes);
  if (deleted <= most) return;
  throw new ExportError(
    'notTolerated',
    `${deleted} of ${rows} assets would be deleted, more than --max-deletes ${maxDeletes} allows`,
    {
      todo: 'Rolled back. Check the export. To load it, raise --max-deletes, or use --deletes keep.',
    },
  );
}

/** A row may not end before it begins. */
async function requireLater({ database, assets, finished }: Loading, at: string): Promise<void> {
  if ((await countOf(database, `${doubleQuoted(assets.name)} WHERE valid_from >= ${at}`)) === 0) return;
  throw new ExportError('usage', `${finished.folder} started before the newest rows in the table ${assets.name}`, {
    todo: 'Load exports in the order in which they began.',
  });
}

async function countOf(database: Database, from: string): Promise<number> {
  const [[count] = []] = await database.rows(`SELECT count(*) FROM ${from}`);
  return Number(count);
}

/** When the export began, as an expression. @throws {ExportError} `usage` when nothing says so */
async function startOf({ finished, kind }: Loading): Promise<string> {
  const { files, folder, manifest } = finished;
  const ms = await startOfExport(files, folder, manifest);
  if (ms !== undefined)
    return `${kind === 'duckdb' ? 'TIMESTAMPTZ' : 'timestamp with time zone'} ${literal(new Date(ms).toISOString())}`;
  throw new ExportError(
    'usage',
    `${folder} does not say when it began: it has neither runs.jsonl nor a column of times`,
    {
      todo: 'Export with output.exportedAt: true, or with base.from.',
    },
  );
}
