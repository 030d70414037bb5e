import { loadStatementFor, type LoadPlan, type LoadTable, type CountedChange, sourceOf } from '../warehouse/index.ts';
import type { Table } from '../../core/records/table.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count } from '../../lib/format-text.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database, DatabaseKind } from './database.ts';
import { holdsMarks, marksCleared, refusedMarks } from './changes/marks.ts';

/** A reason to end a load: the query finds a row. */
export interface Refusal {
  readonly query: string;
  /** What a script says. */
  readonly message: string;
  /** What a load says, from the row that the query found. */
  readonly error: (row: readonly unknown[]) => ExportError | Promise<ExportError>;
}

/** Where the statements of a load go: to a database, or into a script. */
export interface LoadSession {
  readonly kind: DatabaseKind;
  /** Whether the guards alone run, over tables that may lack columns. */
  readonly isTrial: boolean;
  /** Resolves to the number of changed rows; 0 in a script. */
  run(sql: string): Promise<number>;
  /** Runs a statement that changes rows. @throws {ExportError} `loadFailed` where it does not change all of them */
  change(change: CountedChange): Promise<void>;
  /** Loads all rows of a table into the table of that name. @throws {ExportError} `loadFailed` where not all arrived */
  load(source: LoadTable): Promise<void>;
  /** @throws {ExportError} when the query finds a row */
  refuseIf(refusal: Refusal): Promise<void>;
  /** Clears the marks of deleted assets. A script refuses a table with marks. */
  clearMarks(assets: Table): Promise<void>;
  /** A script is written for tables that have rows. */
  isEmpty(table: string): Promise<boolean>;
  /** Rows of a table, with a condition; 0 in a script. @param from what follows FROM */
  count(from: string): Promise<number>;
  /** The name under which the rows of a table from before the load are read. */
  heldName(table: string): string;
  /** Whether an index says that a key is unique. A script does not know. */
  hasUniqueKey(table: string, key: readonly string[]): Promise<boolean>;
  /** A condition that holds when a stage is complete: a script can be run by a client that continues after an error. */
  isComplete(stage: string, rows: number): string;
  /** Values whose NUL characters were removed or replaced, by the name of the table in the export and by column. */
  readonly nulValues: NonNullable<Database['nulValues']>;
}

export function liveSession(database: Database, isTrial = false): LoadSession {
  const rowsOf = async (from: string): Promise<number> => {
    const [[rows] = []] = await database.rows(`SELECT count(*) FROM ${from}`);
    return Number(rows);
  };
  const change = async ({ table, sql, rows }: CountedChange): Promise<void> => {
    const wanted = await rowsOf(rows);
    const changed = await database.run(sql);
    if (changed !== wanted) throw notAllChanged(table, changed, wanted);
  };
  return {
    kind: database.kind,
    isTrial,
    run: (sql) => database.run(sql),
    change,
    clearMarks: async ({ name, columns }) => {
      const names = columns.map((column) => column.name);
      if (await holdsMarks(database, name, names)) await change(marksCleared(name));
    },
    load: async (source) => {
      const rows = await database.load(source);
      if (rows !== source.rows) throw notAllArrived(source.table.name, rows, source.rows);
    },
    refuseIf: async ({ query, error }) => {
      const [row] = await database.rows(query);
      if (row !== undefined) throw await error(row);
    },
    isEmpty: async (name) => !(await database.hasRows({ name })),
    count: rowsOf,
    heldName: (table) => database.heldName?.(table) ?? table,
    hasUniqueKey: async (table, key) => {
      if (database.kind === 'duckdb') return false;
      return (await database.rows(uniqueIndexOf(table, key))).length > 0;
    },
    isComplete: () => 'TRUE',
    nulValues: database.nulValues ?? new Map(),
  };
}

/** A session that writes its statements down. */
export function scriptSession(kind: DatabaseKind, plan: LoadPlan, folder: string) {
  const texts: string[] = [];
  const session: LoadSession = {
    kind,
    isTrial: false,
    run: async (sql) => {
      texts.push(sql);
      return 0;
    },
    change: async (change) => {
      // DuckDB has nothing that swallows rows.
      texts.push(kind === 'duckdb' ? change.sql : changeInPostgres(change));
    },
    load: async (source) => {
      texts.push(loadStatementFor(kind, sourceOf(source, plan, folder)));
    },
    refuseIf: async (refusal) => {
      texts.push(errorIn(kind, refusal));
    },
    clearMarks: async (assets) => {
      texts.push(errorIn(kind, refusedMarks(kind, assets.name)));
    },
    isEmpty: async () => false,
    count: async () => 0,
    heldName: (table) => table,
    hasUniqueKey: async () => false,
    isComplete: (stage, rows) => `(SELECT count(*) FROM ${doubleQuoted(stage)}) = ${rows}`,
    nulValues: new Map(),
  };
  return { session, texts };
}

function uniqueIndexOf(table: string, key: readonly string[]): string {
  const columns = `SELECT string_agg(attname, ',' ORDER BY attname) FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey)`;
  const names = [...key].sort().join(',');
  return `SELECT 1 FROM pg_index WHERE indrelid = to_regclass(${literal(doubleQuoted(table))}) AND indisunique AND indisvalid
AND indpred IS NULL AND indexprs IS NULL AND indnatts = indnkeyatts AND (${columns}) = ${literal(names)}`;
}

function errorIn(kind: DatabaseKind, { query, message }: Pick<Refusal, 'query' | 'message'>): string {
  return kind === 'duckdb' ? errorInDuckdb(query, message) : errorInPostgres(query, message);
}

function errorInDuckdb(query: string, message: string): string {
  return `SELECT error(${literal(message)}) FROM (${query}) AS refused LIMIT 1;\n`;
}

function errorInPostgres(query: string, message: string): string {
  const raised = `RAISE EXCEPTION USING MESSAGE = ${literal(message)};`;
  return `DO ${literal(`BEGIN IF EXISTS (${query}) THEN ${raised} END IF; END`)};\n`;
}

function changeInPostgres({ table, sql, rows }: CountedChange): string {
  const message = literal(`the table ${table} did not take all changes: nothing was loaded`);
  return `DO ${literal(`DECLARE asset_export_wanted bigint; asset_export_changed bigint;
BEGIN
SELECT count(*) INTO asset_export_wanted FROM ${rows};
${sql}GET DIAGNOSTICS asset_export_changed = ROW_COUNT;
IF asset_export_changed <> asset_export_wanted THEN RAISE EXCEPTION USING MESSAGE = ${message}; END IF;
END`)};\n`;
}

function notAllChanged(table: string, changed: number, wanted: number): ExportError {
  return new ExportError('loadFailed', `the table ${table} took ${count(changed)} of ${count(wanted)} changed rows`, {
    todo: 'Rolled back. A trigger, a rule or a policy of the table drops rows: disable it, then run load again.',
  });
}

function notAllArrived(table: string, rows: number, wanted: number): ExportError {
  return new ExportError('loadFailed', `the table ${table} received ${count(rows)} of ${count(wanted)} rows`, {
    todo: 'Rolled back. Fix the cause and run load again.',
  });
}
