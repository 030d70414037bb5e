import { describe, expect, it } from 'vitest';
import { withLongSleeps } from '../../src/lib/clock.ts';

const hourMs = 3_600_000;

/** A clock whose timers end at once; `pass` tells how far the time of day moves in one, by its length. */
function timed(pass: (ms: number) => number) {
  let nowMs = Date.UTC(2026, 2, 14, 9);
  const timers: number[] = [];
  const clock = withLongSleeps({
    now: () => nowMs,
    sleep: (ms, signal) => {
      signal?.throwIfAborted();
      timers.push(ms);
      nowMs += pass(ms);
      return Promise.resolve();
    },
  });
  return { clock, timers };
}

describe('a long sleep', () => {
  it('is made of timers of at most a minute', async () => {
    const { clock, timers } = timed((ms) => ms);
    await clock.sleep(150_000);
    await clock.sleep(0);
    expect(timers).toEqual([60_000, 60_000, 30_000, 0]);
  });

  it('ends within a minute after the machine was suspended beyond its end', async () => {
    const { clock, timers } = timed((ms) => (timers.length === 2 ? ms + 12 * hourMs : ms));
    await clock.sleep(10 * hourMs);
    expect(timers).toEqual([60_000, 60_000]);
  });

  it('is no longer for a clock that is set back', async () => {
    const { clock, timers } = timed((ms) => ms - 5 * hourMs);
    await clock.sleep(120_000);
    expect(timers).toEqual([60_000, 60_000]);
  });

  it('does not end before its signal when it is longer than any timer', async () => {
    const stop = new AbortController();
    const reason = new Error('SIGTERM');
    const { clock, timers } = timed((ms) => {
      if (timers.length === 50_000) stop.abort(reason);
      return ms;
    });
    await expect(clock.sleep(Number.POSITIVE_INFINITY, stop.signal)).rejects.toBe(reason);
    expect(timers).toHaveLength(50_000);
  });
});
