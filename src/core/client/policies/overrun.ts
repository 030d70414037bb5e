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

/** As a job gives it: `['50%', 250]`, one of the two, or `['none']`. */
export type OverrunParts = readonly (number | string)[];

/** Holds where a job says nothing. */
export const defaultOverrun: OverrunParts = ['50%', autoCalls];

/** Stands for no limit. */
export const noOverrun = 'none';

/** Undefined: no limit. A part that is not given is 0. */
export function overrunOf(parts: OverrunParts): Overrun | undefined {
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
