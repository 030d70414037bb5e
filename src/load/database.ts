import type { LoadTable } from './load-plan.ts';

/** A connection to a database, for one load. */
export interface Database {
  run(sql: string): Promise<void>;
  /** Loads the files of a table, and tells how many rows went in. */
  load(source: LoadTable): Promise<number>;
  close(): Promise<void>;
}
