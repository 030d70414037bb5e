import type { Clock } from '../../lib/clock.ts';

/** The rate limit of all who share it: the calls of one process, or those of a fleet. */
export interface SharedPace {
  /** Takes the next turn for a call; resolves to how long it has to wait, in milliseconds. */
  turn(credits: number): Promise<number>;
  /** A call that took a turn was not sent. */
  unused(credits: number): void;
  /** No turn of anyone begins for so many milliseconds. */
  pauseAll(ms: number): Promise<void>;
  /** Most ids a call that anyone learned; undefined where that is not known. */
  idsPerCall(): Promise<number | undefined>;
  /** Tells all that the service takes at most so many ids a call. */
  learned(idsPerCall: number): Promise<void>;
}

/**
 * Spaces the calls of this process evenly. A turn is taken before it is waited for, so that no two calls get the same. No wait
 * is longer than the turns before it, however the clock is set. Pauses and sizes of this process have policies of their own.
 */
export function createLocalPace(clock: Clock, creditsPerSecond: number | undefined): SharedPace {
  let lookedMs = 0;
  /** How long the turns that were taken last, from `lookedMs` on. */
  let takenMs = 0;
  return {
    turn: (credits) => {
      if (creditsPerSecond === undefined) return Promise.resolve(0);
      const nowMs = clock.now();
      // A clock that was set back counts as one that stood still.
      const waitMs = Math.max(0, takenMs - Math.max(0, nowMs - lookedMs));
      lookedMs = nowMs;
      takenMs = waitMs + (credits / creditsPerSecond) * 1000;
      return Promise.resolve(waitMs);
    },
    unused: () => undefined,
    pauseAll: () => Promise.resolve(),
    idsPerCall: () => Promise.resolve(undefined),
    learned: () => Promise.resolve(),
  };
}
