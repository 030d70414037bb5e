/** How many calls a run may send beyond those that its ids are worth. */
export interface Overrun {
  /** A share of the planned calls. */
  readonly percent: number;
  readonly calls: number;
}

/** As a job gives it: `['50%', 250]`, one of the two, or `['none']`. */
export type OverrunParts = readonly (number | string)[];

/** Holds where a job says nothing. */
export const defaultOverrun: OverrunParts = ['50%', 250];

/** Stands for no limit. */
export const noOverrun = 'none';

/** Undefined: no limit. A part that is not given is 0. */
export function overrunOf(parts: OverrunParts): Overrun | undefined {
  if (parts.includes(noOverrun)) return undefined;
  const numberOf = (isShare: boolean): number => {
    const part = parts.find((each) => String(each).endsWith('%') === isShare);
    return part === undefined ? 0 : Number.parseFloat(String(part));
  };
  return { percent: numberOf(true), calls: numberOf(false) };
}

/** The part of one of `workers` that share nothing: the share is of its own calls, so only the calls are divided. */
export function overrunOfWorker(overrun: Overrun | undefined, workers: number): Overrun | undefined {
  return overrun === undefined ? undefined : { ...overrun, calls: Math.ceil(overrun.calls / workers) };
}

/** Most calls that may be sent while so many are planned. */
export function mostCalls(planned: number, { percent, calls }: Overrun): number {
  return Math.floor((planned * (100 + percent)) / 100 + tiny) + calls;
}

/** Credits that a run may cost beyond its planned calls. */
export function overrunCredits(planned: number, { percent, calls }: Overrun, creditsPerCall: number): number {
  return whole(((planned * percent) / 100 + calls) * creditsPerCall);
}

/** How many ids a call has, as far as it is known when a run begins. */
export interface KnownSize {
  /** Of the job. */
  readonly idsPerCall: number;
  /** The most that the service takes, if an earlier run found out. */
  readonly cap?: number | undefined;
}

/** What one id is worth, in calls: a batch of `idsPerCall` ids is cut into calls of at most `cap`. */
export function worthOfId({ idsPerCall, cap = idsPerCall }: KnownSize): number {
  return Math.ceil(idsPerCall / cap) / idsPerCall;
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
