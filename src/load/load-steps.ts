import type { Table } from '../assets/table.ts';
import { ExportError } from '../lib/export-error.ts';
import { doubleQuoted } from '../warehouse/dialect.ts';
import { ddlFor } from '../warehouse/dialects.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';

const loadModes = ['replace', 'append', 'upsert'] as const;
export type LoadMode = (typeof loadModes)[number];

/** Reads what `--mode` says. @throws {ExportError} `usage` */
export function parseMode(text = 'replace'): LoadMode {
  const mode = loadModes.find((each) => each === text);
  if (mode !== undefined) return mode;
  throw new ExportError('usage', `--mode must be one of ${loadModes.join(', ')}, and is "${text}"`);
}

/** One step of a load: a statement, or the files of a table into the table of that name. */
export type LoadStep =
  | { readonly kind: 'run'; readonly sql: string }
  | { readonly kind: 'load'; readonly source: LoadTable };

/** TRUNCATE is undone with its transaction, and leaves no dead rows behind. */
const empties = { duckdb: 'DELETE FROM', postgres: 'TRUNCATE TABLE' } as const;

/** The table that new assets wait in while the old ones go. */
const incoming = 'asset_export_incoming';

/**
 * What to do, inside one transaction. Tables are made where they are absent and never dropped: views and grants stay.
 * `upsert` replaces the assets that the export holds, with their rows in child tables.
 * @throws {ExportError} `usage` when `upsert` has no id to go by
 */
export function loadSteps(plan: LoadPlan, kind: 'duckdb' | 'postgres', mode: LoadMode): LoadStep[] {
  const turn = kind === 'postgres' ? [run(turnOf(plan))] : [];
  const creates = [...turn, ...plan.tables.map(({ table }) => run(createIfAbsent(kind, table)))];
  const loads = plan.tables.map((source): LoadStep => ({ kind: 'load', source }));
  if (mode === 'append') return [...creates, ...loads];
  const locks = kind === 'postgres' ? [run(lockOf(plan))] : [];
  if (mode === 'replace') {
    const emptied = plan.tables.map(({ table }) => run(`${empties[kind]} ${doubleQuoted(table.name)};\n`));
    return [...creates, ...locks, ...emptied, ...loads];
  }
  const assets = plan.tables.find(({ table }) => table.name === 'assets');
  const id = assets?.table.columns.find((column) => (column.from ?? column.name) === 'id')?.name;
  if (assets === undefined || id === undefined) {
    throw new ExportError('usage', '--mode upsert goes by the id of assets, which this export does not hold', {
      todo: 'Export the table assets with its column id, or load with --mode replace or append.',
    });
  }
  const staged: Table = { ...assets.table, name: incoming };
  const ids = `(SELECT ${doubleQuoted(id)} FROM ${doubleQuoted(incoming)})`;
  const names = assets.table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  return [
    ...creates,
    run(ddlFor(kind, staged).replace('CREATE TABLE', 'CREATE TEMPORARY TABLE')),
    { kind: 'load', source: { ...assets, table: staged } },
    ...locks,
    ...plan.tables.map(({ table }) => {
      const key = table.name === 'assets' ? id : 'asset_id';
      return run(`DELETE FROM ${doubleQuoted(table.name)} WHERE ${doubleQuoted(key)} IN ${ids};\n`);
    }),
    run(`INSERT INTO "assets" (${names}) SELECT ${names} FROM ${doubleQuoted(incoming)};\n`),
    ...loads.filter((step) => step.kind === 'load' && step.source !== assets),
    run(`DROP TABLE ${doubleQuoted(incoming)};\n`),
  ];
}

function run(sql: string): LoadStep {
  return { kind: 'run', sql };
}

/**
 * Two loads at once come one after the other: a DELETE does not see the rows of a load that has not ended, so both would
 * stay. By name, whatever the order of the job's tables, so that they never wait for each other. It holds no reader back.
 */
function lockOf({ tables }: LoadPlan): string {
  const names = tables.map(({ table }) => doubleQuoted(table.name)).sort();
  return `LOCK TABLE ${names.join(', ')} IN SHARE ROW EXCLUSIVE MODE;\n`;
}

/**
 * Loads that find a table absent come one after the other: CREATE TABLE IF NOT EXISTS fails where another has made the table, and
 * has not ended, when it looks.
 */
function turnOf({ tables }: LoadPlan): string {
  const absent = tables.map(({ table }) => `to_regclass('${doubleQuoted(table.name)}') IS NULL`);
  return `SELECT pg_advisory_xact_lock(hashtext('asset-export')) WHERE ${absent.join(' OR ')};\n`;
}

function createIfAbsent(kind: 'duckdb' | 'postgres', table: Table): string {
  return ddlFor(kind, table).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS');
}
