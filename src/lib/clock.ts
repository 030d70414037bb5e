import { setTimeout as delay } from 'node:timers/promises';

/** The time, as an argument: a test that passes its own need not sleep. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
};

/** A UTC day, in milliseconds. */
export const dayMs = 86_400_000;

/** The UTC day of a moment, `YYYY-MM-DD`. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The next 00:00 UTC after a moment, in milliseconds: when the service gives a new balance. */
export function nextUtcMidnight(ms: number): number {
  return (Math.floor(ms / dayMs) + 1) * dayMs;
}
