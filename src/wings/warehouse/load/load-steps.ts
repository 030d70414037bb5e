import { isIdColumn, type Table } from '../../../core/records/table.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { doubleQuoted, literal } from '../../../lib/sql-text.ts';
import { ddlFor } from '../dialects.ts';
import type { LoadPlan, LoadTable } from './load-plan.ts';
import { createLoadsTable, loadsTable, recordLoad } from './load-record.ts';

const wholeModes = ['replace', 'append', 'upsert'] as const;
type WholeMode = (typeof wholeModes)[number];
export const loadModes = [...wholeModes, 'merge', 'scd2'] as const;
export type LoadMode = (typeof loadModes)[number];

/** One step of a load: a statement, or the files of a table into the table of that name. */
export type LoadStep =
  | { readonly kind: 'run'; readonly sql: string }
  | { readonly kind: 'load'; readonly source: LoadTable }
  /** Ends the load if one of the tables holds versions: rows that `scd2` loaded. */
  | { readonly kind: 'requireNoVersions'; readonly tables: readonly Table[] }
  /** Ends the load if the table has rows. */
  | { readonly kind: 'requireNoRows'; readonly table: Table };

export interface LoadOptions {
  readonly kind: 'duckdb' | 'postgres';
  readonly mode: WholeMode;
  /** Schema of the tables, created if absent; default: the schema of the connection. */
  readonly schema?: string | undefined;
  /** A table of assets that has rows may be replaced by none. */
  readonly allowEmpty?: boolean;
}

/** TRUNCATE is undone with its transaction, and leaves no dead rows behind. */
const empties = { duckdb: 'DELETE FROM', postgres: 'TRUNCATE TABLE' } as const;

/** The table that new assets wait in while the old ones go. */
const incoming = 'asset_export_incoming';

/**
 * What to do, inside one transaction. Tables are made where they are absent and never dropped: views and grants stay.
 * `upsert` replaces the assets that the export holds, with their rows in child tables.
 * @throws {ExportError} `usage` when `upsert` has no id to go by
 */
export function loadSteps(plan: LoadPlan, options: LoadOptions): LoadStep[] {
  const { kind, mode, schema, allowEmpty = false } = options;
  const creates = [
    ...openingSteps(plan, { kind, schema }).map(run),
    { kind: 'requireNoVersions', tables: plan.tables.map(({ table }) => table) } as const,
    ...plan.tables.map((each) => run(createIfAbsent(each, options))),
  ];
  const record = run(recordOf(plan, mode));
  const loads = plan.tables.map((source): LoadStep => ({ kind: 'load', source }));
  if (mode === 'append') return [...creates, ...loads, record];
  const locks = kind === 'postgres' ? [run(lockOf(plan))] : [];
  if (mode === 'replace') {
    const guarded = allowEmpty ? [] : plan.tables.filter(({ name, rows }) => name === 'assets' && rows === 0);
    const guards = guarded.map(({ table }): LoadStep => ({ kind: 'requireNoRows', table }));
    const emptied = plan.tables.map(({ table }) => run(`${empties[kind]} ${doubleQuoted(table.name)};\n`));
    return [...creates, ...locks, ...guards, ...emptied, ...loads, record];
  }
  const assets = plan.tables.find(({ name }) => name === 'assets');
  const id = assets === undefined ? undefined : keyOf(assets)?.[0];
  if (assets === undefined || id === undefined) {
    throw new ExportError(
      'usage',
      '--mode upsert needs the column id of the table assets, which this export does not have',
      {
        todo: 'Export the table assets with the column id, or load with --mode replace or append.',
      },
    );
  }
  const staged: Table = { ...assets.table, name: incoming };
  const ids = `(SELECT ${doubleQuoted(id)} FROM ${doubleQuoted(incoming)})`;
  const names = assets.table.columns.map(({ name }) => doubleQuoted(name)).join(', ');
  return [
    ...creates,
    run(ddlFor(kind, staged).replace('CREATE TABLE', 'CREATE TEMPORARY TABLE')),
    { kind: 'load', source: { ...assets, table: staged } },
    ...locks,
    ...plan.tables.map(({ name, table }) => {
      const key = name === 'assets' ? id : 'asset_id';
      return run(`DELETE FROM ${doubleQuoted(table.name)} WHERE ${doubleQuoted(key)} IN ${ids};\n`);
    }),
    run(`INSERT INTO ${doubleQuoted(assets.table.name)} (${names}) SELECT ${names} FROM ${doubleQuoted(incoming)};\n`),
    ...loads.filter((step) => step.kind === 'load' && step.source !== assets),
    run(`DROP TABLE ${doubleQuoted(incoming)};\n`),
    record,
  ];
}

/** Only after `replace` do the tables hold one export and nothing else. */
function recordOf({ tables, seal }: LoadPlan, mode: WholeMode): string {
  const names = tables.map(({ table }) => table.name);
  return recordLoad(names, { mode, seal: mode === 'replace' ? seal : null, baseSeal: null });
}

/** Statements that each load begins with. */
export function openingSteps(plan: LoadPlan, { kind, schema }: Pick<LoadOptions, 'kind' | 'schema'>): string[] {
  const schemas = schema === undefined ? noSchema : inSchema[kind](schema);
  return [...schemas.select, ...(kind === 'postgres' ? [turnOf(plan)] : []), ...schemas.create, createLoadsTable];
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
  const names = [loadsTable, ...tables.map(({ table }) => table.name)];
  const absent = names.map((name) => `to_regclass(${literal(doubleQuoted(name))}) IS NULL`);
  return `SELECT pg_advisory_xact_lock(hashtext('asset-export')) WHERE ${absent.join(' OR ')};\n`;
}

function createIfAbsent(source: LoadTable, { kind, mode }: LoadOptions): string {
  // In DuckDB a row with the key of one that was deleted in the same transaction is refused.
  const key = kind === 'postgres' && mode !== 'append' ? keyOf(source) : undefined;
  const table = key === undefined ? source.table : { ...source.table, key };
  return ddlFor(kind, table).replace('CREATE TABLE', 'CREATE TABLE IF NOT EXISTS');
}

/** The columns that identify a row; undefined where the job left the id of assets out. */
function keyOf({ name, table }: LoadTable): string[] | undefined {
  if (name !== 'assets') return ['asset_id', 'position'];
  const id = table.columns.find(isIdColumn)?.name;
  return id === undefined ? undefined : [id];
}

/** Statements that have names without a schema mean one schema, and that make it if it is absent. */
interface SchemaStatements {
  readonly select: readonly string[];
  readonly create: readonly string[];
}

const noSchema: SchemaStatements = { select: [], create: [] };

const inSchema: Readonly<Record<'duckdb' | 'postgres', (schema: string) => SchemaStatements>> = {
  // The database of a file has the file's name, and a schema of that name would be ambiguous without it.
  duckdb: (schema) => ({
    select: [],
    create: [
      `CREATE SCHEMA IF NOT EXISTS ${doubleQuoted(schema)};\n`,
      `SET schema = '"' || replace(current_database(), '"', '""') || '".' || ${literal(doubleQuoted(schema))};\n`,
    ],
  }),
  // CREATE SCHEMA IF NOT EXISTS needs the right to make schemas also where it is there.
  postgres: (schema) => ({
    select: [`SET LOCAL search_path TO ${doubleQuoted(schema)};\n`],
    create: [
      `DO ${literal(`BEGIN IF to_regnamespace(${literal(doubleQuoted(schema))}) IS NULL THEN CREATE SCHEMA ${doubleQuoted(schema)}; END IF; END`)};\n`,
    ],
  }),
};

/** The step `requireNoRows` as a statement of a script. */
export function requireNoRowsText(kind: 'duckdb' | 'postgres', { name }: Table): string {
  return failIfAny(kind, doubleQuoted(name), `${name} has rows, but the export has none: nothing was replaced`);
}

/** The step `requireNoVersions` as a statement of a script. */
export function requireNoVersionsText(kind: 'duckdb' | 'postgres', tables: readonly Table[]): string {
  const [first] = tables;
  return failIfAny(kind, versionsOf(tables), `${first?.name} was loaded with --mode scd2: nothing was loaded`);
}

/** The records of loads of these tables by `scd2`, behind FROM. */
export function versionsOf(tables: readonly Table[]): string {
  const names = tables.map(({ name }) => literal(name)).join(', ');
  return `${doubleQuoted(loadsTable)} WHERE mode = 'scd2' AND "table" IN (${names})`;
}

function failIfAny(kind: 'duckdb' | 'postgres', from: string, message: string): string {
  const why = literal(message);
  if (kind === 'duckdb') return `SELECT error(${why}) FROM ${from} LIMIT 1;\n`;
  return `DO ${literal(`BEGIN IF EXISTS (SELECT FROM ${from}) THEN RAISE EXCEPTION USING MESSAGE = ${why}; END IF; END`)};\n`;
}
