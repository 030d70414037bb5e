import { duration } from '../../../lib/format-text.ts';
import type { Fact } from './fact.ts';

/** Another clock, and how far ours is ahead of it. */
export interface OtherClock {
  readonly aheadMs: number;
  /** Whose it is. */
  readonly of: string;
}

/** A difference that is worth a warning. */
const mostMs = 5 * 60_000;

/** Compares the clock with others; the one that differs most is named. */
export function checkClock(others: readonly OtherClock[]): Fact {
  const [most] = [...others].sort((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs));
  if (most === undefined) return { fact: 'not compared: there is neither a bucket nor a database' };
  const { aheadMs, of } = most;
  if (Math.abs(aheadMs) <= mostMs) return { fact: `within 5 minutes of that of ${of}` };
  const fact = `${duration(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead of'} that of ${of}`;
  return { fact, warnings: ['set it: days of budgets and names of nights begin at midnight UTC'] };
}
