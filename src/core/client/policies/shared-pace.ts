import type { Clock } from '../../../lib/clock.ts';
import type { Overrun } from './overrun.ts';

/** The rate limit of all who share it: the calls of one process, or those of a fleet. */
export interface SharedPace {
  /**
   * Takes the next turn for a call; resolves to how long it has to wait, in milliseconds.
   * @throws {PassedOverrun} when the call is counted for an export of a fleet, and would pass its overrun
   */
  turn(credits: number, departure?: DepartingCall): Promise<number>;
  /** A call that took a turn was not sent. */
  unused(credits: number): void;
  /** Calls that were counted for an export of a fleet did not leave. It is said before the ledger is closed. */
  giveBack(departure: DepartingCall): void;
  /** No turn of anyone begins for so many milliseconds. */
  pauseAll(ms: number): Promise<void>;
  /** Most ids a call, as anyone believed last; undefined where that is not known. */
  idsPerCall(): Promise<number | undefined>;
  /** Tells all that the service is believed to take at most so many ids a call, in place of what was believed before. */
  learned(idsPerCall: number): Promise<void>;
}

/** What was sent, and what it was planned for, in calls: several small calls may be planned as one. */
export interface CallSums {
  readonly planned: number;
  readonly sent: number;
}

/** How a call that leaves changes the sums of an export that several machines make. */
export interface DepartingCall extends CallSums {
  /** Names the export, the same on all machines. */
  readonly export: string;
  /** Calls that the whole export is worth: what is requested again after a restart is planned once. */
  readonly mostPlanned: number;
  /** Undefined: no limit. */
  readonly overrun: (Overrun & { readonly calls: number }) | undefined;
}

/** A call would be more than the planned calls and their overrun. It is not counted. */
export class PassedOverrun extends Error {
  /** Without that call. */
  readonly sums: CallSums;

  constructor(sums: CallSums) {
    super('more calls than planned');
    this.name = 'PassedOverrun';
    this.sums = sums;
  }
}

/**
 * Spaces the calls of this process evenly. A turn is taken before it is waited for, so that no two calls get the same. No wait
 * is longer than the turns before it. Pauses and sizes of this process have policies of their own.
 */
export function createLocalPace(clock: Clock, creditsPerSecond: number | undefined): SharedPace {
  let lookedMs = 0;
  /** How long the turns that were taken last, from `lookedMs` on. */
  let takenMs = 0;
  return {
    turn: (credits) => {
      if (creditsPerSecond === undefined) return Promise.resolve(0);
      const nowMs = clock.monotonic();
      const waitMs = Math.max(0, takenMs - (nowMs - lookedMs));
      lookedMs = nowMs;
      takenMs = waitMs + (credits / creditsPerSecond) * 1000;
      return Promise.resolve(waitMs);
    },
    unused: () => undefined,
    giveBack: () => undefined,
    pauseAll: () => Promise.resolve(),
    idsPerCall: () => Promise.resolve(undefined),
    learned: () => Promise.resolve(),
  };
}
