import type { Table } from '../../../core/records/table.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { ddlFor } from '../dialects.ts';
import type { Database } from './database.ts';
import type { LoadTable } from './load-plan.ts';

/** Loads all rows of a table into the one of that name. @throws {ExportError} `loadFailed` where not all arrived */
export async function loadWhole(database: Database, source: LoadTable, table: Table): Promise<number> {
  const rows = await database.load({ ...source, table });
  if (rows === source.rows) return rows;
  throw new ExportError('loadFailed', `the table ${table.name} received ${rows} of ${source.rows} rows`, {
    todo: 'Rolled back. Fix the cause and run load again.',
  });
}

/** Loads the rows of a table into a new temporary one of that name. */
export async function stage(
  database: Database,
  kind: 'duckdb' | 'postgres',
  source: LoadTable,
  name: string,
): Promise<number> {
  const table: Table = { name, columns: source.table.columns };
  await database.run(ddlFor(kind, table).replace('CREATE TABLE', 'CREATE TEMPORARY TABLE'));
  return loadWhole(database, source, table);
}
