import { type Clock, nextUtcMidnight } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';

export type CreditLimit = 'creditsPerRun' | 'creditsPerDay' | 'the service' | 'the period of the service';

export interface SpentReason {
  readonly limit: CreditLimit;
  /** What is spent, by which limit: a clause without a full stop. */
  readonly what: string;
}

/** No further call may be sent: what is spent, by which limit, and when there are credits again. */
export function spentError({ limit, what }: SpentReason, clock: Clock, cause?: unknown): ExportError {
  const nowMs = clock.now();
  const again = runAgain(limit, nowMs);
  return new ExportError('spent', `${what}.`, { todo: again.todo, facts: { limit, runAgainAt: again.at }, cause });
}

interface RunAgain {
  /** ISO 8601, `now`, or null when only the provider knows. */
  readonly at: string | null;
  readonly todo: string;
}

function runAgain(limit: CreditLimit, nowMs: number): RunAgain {
  if (limit === 'creditsPerRun')
    return { at: 'now', todo: 'Run the same command again: each run may spend creditsPerRun.' };
  if (limit === 'the period of the service')
    return {
      at: null,
      todo: 'Check your plan on the provider’s page. Run the same command again when the period is over, or with a larger plan.',
    };
  return atMidnight(nowMs);
}

function atMidnight(nowMs: number): RunAgain {
  const midnightMs = nextUtcMidnight(nowMs);
  const at = new Date(midnightMs).toISOString().replace(':00.000Z', 'Z');
  const when = `${at.slice(0, 10)} 00:00 UTC (in ${spanText(midnightMs - nowMs)})`;
  return {
    at,
    todo: `Run the same command again after ${when}, or use --when-spent wait.`,
  };
}

/** A span in hours and minutes, rounded up, as `5 h 12 min`. */
function spanText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}

/** @throws {ExportError} `usage` when no call fits into the budget of a day */
export function requireDayForACall({
  creditsPerCall,
  creditsPerDay,
}: {
  readonly creditsPerCall: number;
  readonly creditsPerDay?: number | undefined;
}): void {
  if (creditsPerDay === undefined || creditsPerDay >= creditsPerCall) return;
  throw new ExportError(
    'usage',
    `budget.creditsPerDay (${creditsPerDay}) is below the price of one call (${creditsPerCall}).`,
    { todo: 'Raise creditsPerDay, or set creditsPerCall to the price that the service charges.' },
  );
}
