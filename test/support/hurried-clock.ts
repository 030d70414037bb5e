import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../src/lib/clock.ts';

export interface HurriedClock extends Clock {
  /** The clock of the service: the same time, real sleeps. */
  readonly service: Clock;
  skipHours(hours: number): void;
  /** Deadlines of this length are slept for real. */
  sleepFor(deadlineMs: number): void;
}

/** A clock that jumps over waits, so that backoff, pauses and days cost nothing. Deadlines alone are slept. */
export function createHurriedClock(): HurriedClock {
  let realMs = Number.NaN;
  let nowMs = Date.UTC(2026, 2, 14, 9, 0, 0);
  const now = (): number => nowMs;
  return {
    now,
    monotonic: now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      if (ms === realMs) return asleep(ms, signal);
      const untilMs = nowMs + ms;
      await asleep(0, signal);
      nowMs = Math.max(nowMs, untilMs);
    },
    service: { now, monotonic: now, sleep: asleep },
    skipHours: (hours) => {
      nowMs += hours * 3_600_000;
    },
    sleepFor: (deadlineMs) => {
      realMs = deadlineMs;
    },
  };
}

async function asleep(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    throw signal?.aborted === true ? signal.reason : error;
  }
}
