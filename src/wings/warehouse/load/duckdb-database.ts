import { loadDuckdb } from '../../../lib/packages/load-duckdb.ts';
import { doubleQuoted } from '../../../lib/sql-text.ts';
import { loadStatementFor } from '../dialects.ts';
import type { Database } from './database.ts';
import { type LoadPlan, sourceOf } from './load-plan.ts';

/** Opens a DuckDB file, and makes it where it is absent. @throws {ExportError} `usage` when DuckDB is not installed */
export async function openDuckdb(address: string, plan: LoadPlan, folder: string): Promise<Database> {
  const { DuckDBInstance } = await loadDuckdb(
    'a load into DuckDB',
    'Or print the statements with --sql and run them yourself.',
  );
  const instance = await DuckDBInstance.create(address);
  const connection = await instance.connect();
  return {
    kind: 'duckdb',
    run: async (sql) => (await connection.run(sql)).rowsChanged,
    rows: async (sql) => (await connection.runAndReadAll(sql)).getRows(),
    hasRows: async ({ name }) => {
      const found = await connection.runAndReadAll(`SELECT 1 FROM ${doubleQuoted(name)} LIMIT 1`);
      return found.currentRowCount > 0;
    },
    load: async (loaded) => {
      const result = await connection.run(loadStatementFor('duckdb', sourceOf(loaded, plan, folder)));
      return result.rowsChanged;
    },
    close: async () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}
