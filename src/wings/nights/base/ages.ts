import { dayMs } from '../../../lib/clock.ts';

const hourMs = 3_600_000;

/** How long a row may be carried over, as a job has it: `12h`, `7d` or `never`. */
export interface MaxAge {
  readonly unit: 'h' | 'd' | 'never';
  readonly count: number;
}

export function maxAgeOf(text: string): MaxAge {
  if (text === 'never') return { unit: 'never', count: 0 };
  return { unit: text.endsWith('h') ? 'h' : 'd', count: Number(text.slice(0, -1)) };
}

/**
 * By how many hours a row is older than it may be: zero and more is stale, minus infinity never is. Days are dates in UTC and
 * hours are rounded, so that a nightly job gives the same result whatever second it starts. A time in the future counts as age 0.
 */
export function overdueHours({ unit, count }: MaxAge, thenMs: number, nowMs: number): number {
  if (unit === 'never') return Number.NEGATIVE_INFINITY;
  const then = Math.min(thenMs, nowMs);
  if (unit === 'h') return Math.round((nowMs - then) / hourMs) - count;
  return (Math.floor(nowMs / dayMs) - Math.floor(then / dayMs) - count) * 24;
}

/** As a sentence has it: `7 days`. */
export function ageWords({ unit, count }: MaxAge): string {
  const name = unit === 'h' ? 'hour' : 'day';
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
