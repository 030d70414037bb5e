import type { Clock } from '../../src/lib/clock.ts';

export interface EventClock extends Clock {
  /** Lets time pass until `work` is done: whenever all wait, it jumps to the next end of a sleep. */
  runUntil<T>(work: Promise<T>): Promise<T>;
  /** Nobody sleeps meanwhile. */
  skip(ms: number): void;
}

interface Sleeper {
  readonly atMs: number;
  readonly wake: () => void;
}

/** A clock that stands still while anything is done. */
export function createEventClock(startMs: number): EventClock {
  let nowMs = startMs;
  const sleepers = new Set<Sleeper>();

  async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
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
    });
  }

  function wakeNext(): void {
    const [next] = [...sleepers].sort((a, b) => a.atMs - b.atMs);
    if (next === undefined) return;
    nowMs = Math.max(nowMs, next.atMs);
    next.wake();
  }

  return {
    now: () => nowMs,
    sleep,
    skip: (ms) => {
      nowMs += ms;
    },
    runUntil: async (work) => {
      const state = { done: false };
      const end = (): void => {
        state.done = true;
      };
      work.then(end, end);
      for (;;) {
        for (let turn = 0; turn < 4; turn += 1) await new Promise((resolve) => setImmediate(resolve));
        if (state.done) return work;
        // Reading the ids takes the system's time, for which nobody sleeps.
        if (sleepers.size === 0) await new Promise((resolve) => setTimeout(resolve, 0));
        else wakeNext();
      }
    },
  };
}
