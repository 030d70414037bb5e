import { systemClock } from '../../lib/clock.ts';
import { literal } from '../../lib/sql-text.ts';
import { localDisk } from '../../places/files/disk.ts';
import type { Database } from './database.ts';
import { openDuckdb } from './duckdb/duckdb-database.ts';
import { loadError } from './load-errors.ts';
import { loadsTable } from './load-record.ts';
import type { LoadTarget } from './load-target.ts';
import { openPostgres } from './postgres/postgres-database.ts';
import { columnsInDatabase, nameIn } from './table-columns.ts';

/** Memory for one row, in bytes. */
const littleMemoryBytes = 200e6;

/**
 * When the export began that the tables hold, in milliseconds since 1970; undefined where they hold none.
 * @throws {ExportError} `unavailable` when the database cannot be reached
 */
export async function heldStartMs(
  { kind, address, shown }: LoadTarget,
  {
    schema,
    prefix = '',
    note,
  }: { schema?: string | undefined; prefix?: string | undefined; note: (text: string) => void },
): Promise<number | undefined> {
  if (kind === 'duckdb' && (await localDisk.sizeOf(address)) === undefined) return undefined;
  let database: Database | undefined;
  try {
    database = await (kind === 'duckdb'
      ? openDuckdb(address, undefined, littleMemoryBytes)
      : openPostgres(address, undefined, { clock: systemClock, note }));
    const assets = `${prefix}assets`;
    for (const [table, column] of [
      [loadsTable, 'started_at'],
      [assets, 'valid_from'],
    ] as const) {
      if (!(await columnsInDatabase(database, schema, table)).has(column)) return undefined;
    }
    const [row] = await database.rows(
      `SELECT extract(epoch FROM started_at) * 1000 FROM ${nameIn(schema, loadsTable)} WHERE "table" = ${literal(assets)} AND EXISTS (SELECT 1 FROM ${nameIn(schema, assets)})`,
    );
    const [ms = null] = row ?? [];
    return ms === null ? undefined : Math.round(Number(ms));
  } catch (error) {
    throw loadError(error, { shown, folder: '', format: '', moment: 'before' });
  } finally {
    await database?.close().catch(() => undefined);
  }
}
