import type { Clock } from '../../../lib/clock.ts';

/** How many calls a run may send beyond those that its ids are worth. */
export interface Overrun {
  /** A share of the planned calls. */
  readonly percent: number;
  /** `auto`: by the size of the plan. */
  readonly calls: number | typeof autoCalls;
}

/** 12 calls for each planned one, at least 60 and at most 250: finding one id that fails its call of 1,000 takes about 50. */
export const autoCalls = 'auto';

const auto = { perCall: 12, least: 60, most: 250 };

/** From so many planned calls on, `auto` grows no more. */
export const leastForAll = Math.ceil(auto.most / auto.perCall);

/** Holds where a job says nothing. */
export const defaultOverrun: readonly (number | string)[] = ['50%', autoCalls];

/** Stands for no limit. */
export const noOverrun = 'none';

/**
 * Undefined: no limit. A part that is not given is 0.
 * @param parts as a job gives them: `['50%', 250]`, one of the two, or `['none']`
 */
export function overrunOf(parts: readonly (number | string)[]): Overrun | undefined {
  if (parts.includes(noOverrun)) return undefined;
  const numberOf = (isShare: boolean): number => {
    const part = parts.find((each) => String(each).endsWith('%') === isShare);
    return part === undefined ? 0 : Number.parseFloat(String(part));
  };
  return { percent: numberOf(true), calls: parts.includes(autoCalls) ? autoCalls : numberOf(false) };
}

/** The same, with the calls of an export of which so many are planned. */
export function fixedOverrun(overrun: Overrun | undefined, planned: number): (Overrun & { calls: number }) | undefined {
  return overrun && { ...overrun, calls: callsBeyond(planned, overrun) };
}

function callsBeyond(planned: number, { calls }: Overrun): number {
  return calls === autoCalls ? Math.min(auto.most, Math.max(auto.least, auto.perCall * planned)) : calls;
}

/** The part of one of `workers` that share nothing: the share is of its own calls, so only the calls are divided. */
export function overrunOfWorker(
  overrun: (Overrun & { readonly calls: number }) | undefined,
  workers: number,
): Overrun | undefined {
  return overrun === undefined ? undefined : { ...overrun, calls: Math.ceil(overrun.calls / workers) };
}

/** Most calls that may be sent where so many are planned. */
export function mostCalls(planned: number, overrun: Overrun): number {
  return Math.floor((planned * (100 + overrun.percent)) / 100 + tiny) + callsBeyond(planned, overrun);
}

/** Whole calls that so much is worth. It is a sum of shares, which are not exact. */
export function plannedCalls(worth: number): number {
  return whole(worth);
}

function whole(sum: number): number {
  return Math.max(0, Math.ceil(sum - tiny));
}

/** More than the errors of such sums, less than any share. */
const tiny = 1e-7;

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
