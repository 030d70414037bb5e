import { type Clock, nextUtcMidnight } from '../lib/clock.ts';
import { ExportError } from '../lib/export-error.ts';

export type CreditLimit = 'creditsPerRun' | 'creditsPerDay' | 'the service';

export interface SpentReason {
  readonly limit: CreditLimit;
  /** What is spent, by which limit: a clause without a full stop. */
  readonly what: string;
}

/** No further call may be sent: what is spent, by which limit, and when there are credits again. */
export function spentError({ limit, what }: SpentReason, clock: Clock, cause?: unknown): ExportError {
  const nowMs = clock.now();
  const again =
    limit === 'creditsPerRun'
      ? { at: 'now', todo: 'Run the same command again: it may spend as many credits again.' }
      : atMidnight(nowMs);
  return new ExportError('spent', `${what}.`, { todo: again.todo, facts: { limit, runAgainAt: again.at }, cause });
}

function atMidnight(nowMs: number): { at: string; todo: string } {
  const midnightMs = nextUtcMidnight(nowMs);
  const at = new Date(midnightMs).toISOString().replace(':00.000Z', 'Z');
  const when = `${at.slice(0, 10)} 00:00 UTC (in ${spanText(midnightMs - nowMs)})`;
  return {
    at,
    todo: `Run the same command again after ${when}, or let it wait for that: --when-spent wait.`,
  };
}

/** A span in hours and minutes, rounded up, as `5 h 12 min`. */
function spanText(ms: number): string {
  const minutes = Math.ceil(ms / 60_000);
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min` : `${hours} h ${minutes % 60} min`;
}
