import type { PostgresContext } from './ledger/postgres-connection.ts';
import type { OtherClock, Fact } from '../../core/run/check/check-service.ts';

/** @throws {ExportError} `usage`, `unavailable`, `loadFailed` */
export async function checkDatabase(
  database: string,
  context: PostgresContext,
): Promise<Fact & { readonly clock: OtherClock }> {
  const { checkPostgres } = await import('./ledger/check-postgres.ts');
  const { nowMs, hasTables } = await checkPostgres(database, context);
  return {
    fact: `it answers; ${hasTables ? 'tables and rights are there' : 'the next run creates its tables'}`,
    clock: { aheadMs: context.clock.now() - nowMs, of: 'the database' },
  };
}
