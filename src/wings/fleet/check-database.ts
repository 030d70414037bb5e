import type { PostgresContext } from './ledger/postgres-connection.ts';
import type { OtherClock } from '../../core/run/check/check-clock.ts';
import type { Fact } from '../../core/run/check/fact.ts';

const states = {
  ready: 'tables and rights are there',
  older: 'the next run updates its tables',
  absent: 'the next run creates its tables',
};

/** @throws {ExportError} `usage`, `unavailable`, `loadFailed` */
export async function checkDatabase(
  database: string,
  context: PostgresContext,
): Promise<Fact & { readonly clock: OtherClock }> {
  const { checkPostgres } = await import('./ledger/check-postgres.ts');
  const { nowMs, tables } = await checkPostgres(database, context);
  return {
    fact: `it answers; ${states[tables]}`,
    clock: { aheadMs: context.clock.now() - nowMs, of: 'the database' },
  };
}
