import type { Table } from '../../../core/records/table.ts';
import type { LoadTable } from './load-plan.ts';

/** A connection to a database, for one load. */
export interface Database {
  run(sql: string): Promise<void>;
  /** The rows of a small result. */
  rows(sql: string): Promise<readonly (readonly unknown[])[]>;
  hasRows(table: Table): Promise<boolean>;
  /** Loads the files of a table. Resolves to the number of loaded rows. */
  load(source: LoadTable): Promise<number>;
  close(): Promise<void>;
}
