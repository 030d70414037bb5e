import { setTimeout as delay } from 'node:timers/promises';

/** The time, as an argument: a test that passes its own need not sleep. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Longest plain timer, in milliseconds: how late a sleep may end after the machine was suspended. */
const longestTimerMs = 60_000;

/**
 * A clock whose sleeps may have any length and count the time in which the machine was suspended. The timers that it is
 * given need neither: Node's stand still with the machine, and one of more than 2^31 ms ends at once.
 */
export function withLongSleeps(timers: Clock): Clock {
  return {
    now: () => timers.now(),
    sleep: async (ms, signal) => {
      let leftMs = ms;
      do {
        const timerMs = Math.min(leftMs, longestTimerMs);
        const beganMs = timers.now();
        await timers.sleep(timerMs, signal);
        // A clock that was set back makes no sleep longer.
        leftMs -= Math.max(timerMs, timers.now() - beganMs);
      } while (leftMs > 0);
    },
  };
}

export const systemClock: Clock = withLongSleeps({
  now: () => Date.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
});

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
