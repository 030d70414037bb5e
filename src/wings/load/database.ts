import { literal } from '../../lib/sql-text.ts';
import type { LoadTable } from '../warehouse/index.ts';
import type { Table } from '../../core/records/table.ts';

export type DatabaseKind = 'duckdb' | 'postgres';

/** A connection to a database, for one load. */
export interface Database {
  readonly kind: DatabaseKind;
  /** Resolves to the number of rows that the statement changed. */
  run(sql: string): Promise<number>;
  /** The rows of a small result. */
  rows(sql: string): Promise<readonly (readonly unknown[])[]>;
  /** The rows of a large result, some at a time. Nothing else runs meanwhile. */
  pages(sql: string): AsyncIterable<readonly (readonly unknown[])[]>;
  hasRows(table: Pick<Table, 'name'>): Promise<boolean>;
  /** Loads the files of a table. Resolves to the number of loaded rows. */
  load(source: LoadTable): Promise<number>;
  /** NUL characters that were removed or replaced: values by column, by the name of the table in the export. */
  readonly nulValues?: ReadonlyMap<string, Readonly<Record<string, number>>>;
  /** The name under which the rows from before the load are read; that of the table where this is absent. */
  heldName?(table: string): string;
  /** The attached database that a new file replaces. */
  readonly heldDatabase?: string;
  /** Makes visible what was committed, where COMMIT does not. */
  publish?(): Promise<void>;
  close(): Promise<void>;
}

/** A moment, in milliseconds since 1970, as an expression of DuckDB and PostgreSQL. */
export function moment(ms: number): string {
  return `CAST(${literal(new Date(ms).toISOString())} AS timestamp with time zone)`;
}

/** The body of a DO statement of PostgreSQL. */
export function postgresBlock(body: string): string {
  return `DO ${literal(`BEGIN ${body} END`)};\n`;
}
