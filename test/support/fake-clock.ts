import type { Clock } from '../../src/lib/clock.ts';

export interface FakeClock extends Clock {
  /** Moves the time, ending each sleep on its own moment, and lets everything run that waited for it. */
  advance(ms: number): Promise<void>;
  /**
   * Jumps to the next end of a sleep, again and again, until `work` is done. When nothing sleeps, `work` either hangs, which is an
   * error, or waits for the system: for a file, for example.
   */
  runUntil<T>(work: Promise<T>, whenNothingSleeps?: 'fail' | 'wait'): Promise<T>;
  /** Sets the time of day back; sleeps end when they would have ended. */
  setBack(ms: number): void;
  /** How many sleeps are under way. */
  sleepers(): number;
}

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is moved. */
export function createFakeClock(startMs = Date.UTC(2026, 2, 14, 9, 0, 0)): FakeClock {
  let nowMs = startMs;
  let behindMs = 0;
  const sleepers = new Set<Sleeper>();

  function earliest(): Sleeper | undefined {
    return [...sleepers].sort((a, b) => a.atMs - b.atMs)[0];
  }

  function wakeNext(sleeper: Sleeper): Promise<void> {
    nowMs = Math.max(nowMs, sleeper.atMs);
    sleeper.wake();
    return settled();
  }

  return {
    now: () => nowMs - behindMs,
    monotonic: () => nowMs,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) {
          reject(signal.reason as Error);
          return;
        }
        const end = (): void => {
          sleepers.delete(sleeper);
          signal?.removeEventListener('abort', onAbort);
        };
        const onAbort = (): void => {
          end();
          reject(signal?.reason as Error);
        };
        const wake = (): void => {
          end();
          resolve();
        };
        const sleeper: Sleeper = { atMs: nowMs + ms, wake };
        sleepers.add(sleeper);
        signal?.addEventListener('abort', onAbort, { once: true });
      }),
    advance: async (ms) => {
      const untilMs = nowMs + ms;
      await settled();
      for (let next = earliest(); next !== undefined && next.atMs <= untilMs; next = earliest()) await wakeNext(next);
      nowMs = untilMs;
    },
    runUntil: async (work, whenNothingSleeps = 'fail') => {
      const state = { done: false };
      const end = (): void => {
        state.done = true;
      };
      work.then(end, end);
      for (;;) {
        await settled();
        if (state.done) return work;
        const next = earliest();
        if (next !== undefined) await wakeNext(next);
        else if (whenNothingSleeps === 'wait') await new Promise((resolve) => setTimeout(resolve, 0));
        else throw new Error('Nothing sleeps and the work is not done: it hangs.');
      }
    },
    setBack: (ms) => {
      behindMs += ms;
    },
    sleepers: () => sleepers.size,
  };
}

/** Lets every promise that can settle by itself do so. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
