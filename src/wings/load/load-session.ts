import type { LoadTable } from '../warehouse/index.ts';
import { ExportError } from '../../lib/export-error.ts';
import { count } from '../../lib/format-text.ts';
import { doubleQuoted, literal } from '../../lib/sql-text.ts';
import type { Database, DatabaseKind } from './database.ts';

/** A statement that changes rows of a table. */
export interface CountedChange {
  readonly table: string;
  readonly sql: string;
  /** The rows that it changes, behind FROM; counted before it runs. */
  readonly rows: string;
}

/** A load in its transaction. */
export interface LoadSession {
  readonly kind: DatabaseKind;
  /** Whether the guards alone run, over tables that may lack columns. */
  readonly isTrial: boolean;
  /** Resolves to the number of changed rows. */
  run(sql: string): Promise<number>;
  /** Runs a statement that changes rows; resolves to their number. @throws {ExportError} `loadFailed` where it does not change all of them */
  change(change: CountedChange): Promise<number>;
  /** Loads all rows of a table into the table of that name. @throws {ExportError} `loadFailed` where not all arrived */
  load(source: LoadTable): Promise<void>;
  /** Ends the load when the query finds a row. @throws {ExportError} what `error` makes of that row */
  refuseIf(refusal: {
    readonly query: string;
    readonly error: (row: readonly unknown[]) => ExportError | Promise<ExportError>;
  }): Promise<void>;
  /** The rows of a large result, some at a time. Nothing else runs meanwhile. */
  pages: Database['pages'];
  isEmpty(table: string): Promise<boolean>;
  /** The rows of a small result. */
  rows: Database['rows'];
  /** Rows of a table, with a condition. @param from what follows FROM */
  count(from: string): Promise<number>;
  /** The name under which the rows of a table from before the load are read. */
  heldName(table: string): string;
  /** Whether an index says that a key is unique; DuckDB does not know. */
  hasUniqueKey(table: string, key: readonly string[]): Promise<boolean>;
  /** Values whose NUL characters were removed or replaced, by the name of the table in the export and by column. */
  readonly nulValues: NonNullable<Database['nulValues']>;
}

export function openLoadSession(database: Database, isTrial = false): LoadSession {
  const rowsOf = async (from: string): Promise<number> => {
    const [[rows] = []] = await database.rows(`SELECT count(*) FROM ${from}`);
    return Number(rows);
  };
  const change = async ({ table, sql, rows }: CountedChange): Promise<number> => {
    const wanted = await rowsOf(rows);
    const changed = await database.run(sql);
    if (changed === wanted) return changed;
    throw new ExportError('loadFailed', `the table ${table} took ${count(changed)} of ${count(wanted)} changed rows`, {
      todo: 'Rolled back. A trigger, a rule or a policy of the table drops rows: disable it, then run load again.',
    });
  };
  return {
    kind: database.kind,
    isTrial,
    run: (sql) => database.run(sql),
    change,
    pages: (sql) => database.pages(sql),
    load: async (source) => {
      const rows = await database.load(source);
      if (rows === source.rows) return;
      const message = `the table ${source.table.name} received ${count(rows)} of ${count(source.rows)} rows`;
      throw new ExportError('loadFailed', message, { todo: 'Rolled back. Fix the cause and run load again.' });
    },
    refuseIf: async ({ query, error }) => {
      const [row] = await database.rows(query);
      if (row !== undefined) throw await error(row);
    },
    isEmpty: async (name) => !(await database.hasRows({ name })),
    rows: (sql) => database.rows(sql),
    count: rowsOf,
    heldName: (table) => database.heldName?.(table) ?? table,
    hasUniqueKey: async (table, key) => {
      if (database.kind === 'duckdb') return false;
      return (await database.rows(uniqueIndexOf(table, key))).length > 0;
    },
    nulValues: database.nulValues ?? new Map(),
  };
}

function uniqueIndexOf(table: string, key: readonly string[]): string {
  const columns = `SELECT string_agg(attname, ',' ORDER BY attname) FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY (indkey)`;
  const names = [...key].sort().join(',');
  return `SELECT 1 FROM pg_index WHERE indrelid = to_regclass(${literal(doubleQuoted(table))}) AND indisunique AND indisvalid
AND indpred IS NULL AND indexprs IS NULL AND indnatts = indnkeyatts AND (${columns}) = ${literal(names)}`;
}
