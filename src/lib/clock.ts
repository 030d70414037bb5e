import { setTimeout as delay } from 'node:timers/promises';
import { randomBytes } from 'node:crypto';

/** The time, as an argument: a test that passes its own need not sleep. */
export interface Clock {
  /** Time of day, in whole milliseconds since 1970-01-01T00:00:00Z: for days, ages and records. It may step, forward and back. */
  now(): number;
  /** Whole milliseconds since some moment: for durations, pauses, deadlines and rates. It never steps. */
  monotonic(): number;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason when it is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** How often the time of day is looked at while it is waited for, in milliseconds: it may step, and timers stand still with the machine. */
const lookMs = 600_000;

/** Resolves when the time of day is `untilMs`, at most ten minutes late after a step or a suspended machine. */
export async function sleepUntil(
  clock: Pick<Clock, 'now' | 'sleep'>,
  untilMs: number,
  signal?: AbortSignal,
): Promise<void> {
  for (let leftMs = untilMs - clock.now(); leftMs > 0; leftMs = untilMs - clock.now())
    await clock.sleep(Math.min(leftMs, lookMs), signal);
}

/** A clock whose sleeps may have any length: a timer of Node of more than 2^31 ms ends at once. */
export function withLongSleeps(timers: Clock): Clock {
  return {
    ...timers,
    sleep: async (ms, signal) => {
      let leftMs = ms;
      do {
        const timerMs = Math.min(leftMs, dayMs);
        await timers.sleep(timerMs, signal);
        leftMs -= timerMs;
      } while (leftMs > 0);
    },
  };
}

/** A UTC day, in milliseconds. */
export const dayMs = 86_400_000;

export const systemClock: Clock = withLongSleeps({
  now: () => Date.now(),
  monotonic: () => Math.floor(performance.now()),
  sleep: async (ms, signal) => {
    try {
      await delay(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      throw signal?.aborted === true ? signal.reason : error;
    }
  },
});

/** The UTC day of a moment, `YYYY-MM-DD`. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The next 00:00 UTC after a moment, in milliseconds: when the service gives a new balance. */
export function nextUtcMidnight(ms: number): number {
  return (Math.floor(ms / dayMs) + 1) * dayMs;
}

/** A UUID of version 7 (RFC 9562, section 5.7): ids made later sort behind earlier ones. */
export function uuidV7(nowMs: number, random: Uint8Array = randomBytes(10)): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.set(random.subarray(0, 10), 6);
  bytes[6] = 0x70 | ((bytes[6] ?? 0) & 0x0f);
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
