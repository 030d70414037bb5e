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
 * hours are rounded, so that a nightly job gives the same result whatever second it starts. A time in the future
 * (of a clock that was wrong) is no evidence of freshness: plus infinity.
 */
export function overdueHours({ unit, count }: MaxAge, thenMs: number, nowMs: number): number {
  if (unit === 'never') return Number.NEGATIVE_INFINITY;
  const [age, hours] =
    unit === 'h'
      ? [Math.round((nowMs - thenMs) / hourMs), 1]
      : [Math.floor(nowMs / dayMs) - Math.floor(thenMs / dayMs), 24];
  return age < 0 ? Number.POSITIVE_INFINITY : (age - count) * hours;
}

/** As a sentence has it: `7 days`. */
export function ageWords({ unit, count }: MaxAge): string {
  const name = unit === 'h' ? 'hour' : 'day';
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}
