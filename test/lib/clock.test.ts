import { describe, expect, it } from 'vitest';
import { dayMs, sleepUntil, withLongSleeps } from '../../src/lib/clock.ts';

const hourMs = 3_600_000;

/** A clock whose timers end at once; `pass` says how far the time of day moves in one, by its length. */
function timed(pass: (ms: number) => number) {
  let nowMs = Date.UTC(2026, 2, 14, 9);
  const timers: number[] = [];
  const clock = withLongSleeps({
    now: () => nowMs,
    monotonic: () => 0,
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
  it('is made of timers that Node can take, whatever the time of day does', async () => {
    for (const step of [0, 5 * hourMs, -5 * hourMs, 365 * dayMs]) {
      const { clock, timers } = timed((ms) => ms + step);
      await clock.sleep(2.5 * dayMs);
      await clock.sleep(0);
      expect(timers).toEqual([dayMs, dayMs, dayMs / 2, 0]);
    }
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

describe('a wait for a time of day', () => {
  it.each([
    ['no step', 0, 10],
    ['a step forward, or a machine that was suspended', 2 * hourMs, 2],
    ['a step back', -hourMs, 16],
  ])('ends at that time: %s', async (_, stepMs, looks) => {
    const { clock, timers } = timed((ms) => (timers.length === 2 ? ms + stepMs : ms));
    await sleepUntil(clock, clock.now() + 6_000_000);
    expect(timers).toHaveLength(looks);
  });
});
