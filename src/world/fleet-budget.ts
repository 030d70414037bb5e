import type { PostgresContext } from '../wings/fleet/index.ts';
import type { PostgresLedger } from '../wings/fleet/index.ts';
import type { LedgerOf } from '../core/client/ledger/ledger-file.ts';
import type { BookedDay } from '../core/client/ledger/credit-ledger.ts';
import type { Job } from '../core/job/job-schema.ts';
import { systemClock } from '../lib/clock.ts';

/** Opens the budget of a fleet. Its client is loaded only for a job that names a database. @throws {ExportError} */
export async function openFleetBudget(
  database: string,
  {
    apiKey,
    account,
    budget,
    abort,
    tell: first,
  }: Pick<PostgresContext, 'abort'> &
    LedgerOf & {
      readonly budget?: Job['budget'];
      /** Takes messages until `tellTo` names another. */
      readonly tell: (message: string) => void;
    },
): Promise<{
  readonly ledger: PostgresLedger;
  /** Redirects the messages of the connection. */
  readonly tellTo: (tell: (message: string) => void) => void;
}> {
  const { openPostgresLedger } = await import('../wings/fleet/index.ts');
  let tell = first;
  const { creditsPerDay, creditsPerSecond } = budget ?? {};
  const limits = { apiKey, account, creditsPerDay, creditsPerSecond };
  const ledger = await openPostgresLedger(database, {
    ...postgresContext,
    ...limits,
    abort,
    tell: (message) => {
      tell(message);
    },
  });
  return {
    ledger,
    tellTo: (other) => {
      tell = other;
    },
  };
}

/** What is booked in the database of a fleet, by ledger and day. @throws {ExportError} */
export async function readFleetLedger(database: string, which: LedgerOf): Promise<BookedDay[]> {
  const { readPostgresLedger } = await import('../wings/fleet/index.ts');
  return readPostgresLedger(database, { ...postgresContext, ...which });
}

const postgresContext: PostgresContext = { clock: systemClock, random: Math.random };
