import type { Job } from '../job/job-schema.ts';
import { nextUtcMidnight } from '../../lib/clock.ts';

/** How long the calls of an export take under its budget. */
export interface Forecast {
  /** UTC days on which calls are sent or waited for, from today on; `never` when a day takes no call; null without `creditsPerDay`. */
  readonly days: number | 'never' | null;
  /** Seconds at `creditsPerSecond`; null without it. */
  readonly seconds: number | null;
  /** Credits of today that are left, after what all programs with this key have booked; null without `creditsPerDay`. */
  readonly leftToday: number | null;
  /** When the last answer is there, if it begins now, ISO 8601 in UTC; null when there is nothing to send, or `never`. */
  readonly completesAt: string | null;
}

export interface ForecastFacts {
  readonly calls: number;
  readonly job: Pick<Job, 'budget' | 'service'>;
  /** Credits that are booked today. */
  readonly booked: number;
  readonly nowMs: number;
}

/** How long a call is assumed to take, in milliseconds. */
const assumedCallMs = 1000;

export function forecast(facts: ForecastFacts): Forecast {
  const { calls, job, booked } = facts;
  const { creditsPerCall, creditsPerDay, creditsPerSecond } = job.budget;
  const callsFor = (credits: number | undefined): number =>
    credits === undefined || creditsPerCall === 0 ? Number.POSITIVE_INFINITY : Math.floor(credits / creditsPerCall);
  const leftToday = creditsPerDay === undefined ? null : Math.max(0, creditsPerDay - booked);
  const perDay = callsFor(creditsPerDay);
  const today = callsFor(leftToday ?? undefined);
  const isNever = calls > 0 && perDay === 0;
  const days = calls === 0 ? 0 : calls <= today ? 1 : 1 + Math.ceil((calls - today) / perDay);
  const endMs = isNever || calls === 0 ? undefined : completion(facts, today, perDay);
  return {
    days: creditsPerDay === undefined ? null : isNever ? 'never' : days,
    seconds: creditsPerSecond === undefined ? null : (calls * creditsPerCall) / creditsPerSecond,
    leftToday,
    completesAt: endMs === undefined ? null : new Date(endMs).toISOString(),
  };
}

/** When the last call is answered, if so many may leave today and on each day after it. */
function completion({ calls, job, nowMs }: ForecastFacts, today: number, perDay: number): number {
  const { creditsPerCall, creditsPerSecond } = job.budget;
  const paceMs = creditsPerSecond === undefined ? 0 : (creditsPerCall / creditsPerSecond) * 1000;
  const callMs = Math.max(paceMs, assumedCallMs / job.service.concurrency);
  let atMs = nowMs;
  let left = calls;
  for (let allowed = today; ; allowed = perDay) {
    const midnightMs = nextUtcMidnight(atMs);
    const inTime = perDay === Number.POSITIVE_INFINITY ? left : Math.ceil((midnightMs - atMs) / callMs);
    const sent = Math.min(left, allowed, inTime);
    left -= sent;
    if (left === 0) return atMs + sent * callMs;
    atMs = midnightMs;
  }
}
