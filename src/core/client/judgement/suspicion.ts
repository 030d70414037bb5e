/**
 * What a failed attempt tells of the service, before anyone judges it. Only definite answers are believed at once; all of these
 * are trouble, whose cause shows by what other attempts bring:
 * - `transport`: no answer, or none that can be read (a reset, a hang, 5xx, a cut body, a page)
 * - `refusal`: an error whose reason is not known
 * - `pace`: too fast, by the service's own words
 */
export type Trouble = 'transport' | 'refusal' | 'pace';

export interface FailedAttempt {
  readonly trouble: Trouble;
  /** How long the service asks to wait, in milliseconds. */
  readonly waitMs?: number | undefined;
  /** True when the request never left, so that it says nothing of its ids. */
  readonly unsent?: boolean | undefined;
  /** True when no answer came, not even one of a gateway. */
  readonly silent?: boolean | undefined;
  /** True of an error in the envelope of this very call: the service is up, and speaks of its ids. */
  readonly inWords?: boolean | undefined;
}

/** How an attempt left. */
export interface Departure {
  /** Calls in flight, this one included. */
  readonly atOnce: number;
  /** How often the limit of calls in flight had been lowered by then. */
  readonly cuts: number;
  /** How often all calls had been held back by then. */
  readonly holds: number;
  /** One call at a time leaves, and the one before it failed: what failed it, a limit of calls a second, may fail this one too. */
  readonly followsFailure: boolean;
}

/** What else there is when an attempt fails. */
export interface Backlog {
  /** Calls that wait to be sent for the first time. */
  readonly fresh: number;
  readonly inFlight: number;
}

/** What speaks against the ids of one call. */
export interface Suspect {
  /** True of a piece of a call that an id was blamed for: one of its two halves is expected to fail. */
  readonly isPiece: boolean;
  readonly ids: number;
  /** Attempts that failed. */
  failures: number;
  /** Failures before which another call was answered, directly so for one id (`Departure`): only these speak against its ids. */
  evidence: number;
  /** All its failures were errors in the envelope of its own calls. */
  isInWords: boolean;
  /** Of these, those since another call was answered. */
  alone: number;
  /** Failures in the only call in flight that the service itself said to be due to its pace. */
  paced: number;
  /** Answers to all calls, when it failed last or began. */
  answersBefore: number;
}

/** Calls that the rate of failures is taken from. */
const mostCalls = 32;

/** What is as likely as this to happen by chance is blamed on an id: of a call, of a piece, and of one id for good. */
const chanceOfCall = 0.02;
const chanceOfPiece = 0.15;
const chanceOfOne = 0.00001;
const leastEvidenceOfCall = 2;
const leastEvidenceOfOne = 3;

/** More is never assumed: else nothing could be blamed. */
const mostRate = 0.9;

/** How often attempts fail for which no id is to blame: the failures before its answer of each call that was answered. */
export class FailureRate {
  /** With controls, which show how well the service is while only suspects are left. */
  readonly #all: number[] = [];
  readonly #calls: number[] = [];

  add(failures: number, isControl: boolean): void {
    for (const ring of isControl ? [this.#all] : [this.#all, this.#calls]) {
      ring.push(failures);
      if (ring.length > mostCalls) ring.shift();
    }
  }

  /**
   * Whether so many failures are too improbable for chance: then an id of the call is to blame.
   * @param retries of a call: one id whose errors are words is blamed at the latest behind these, where others mostly go well
   */
  blames({ isPiece, ids, evidence, isInWords }: Suspect, retries: number): boolean {
    const chanceOf = (rate: number): number => rate ** evidence;
    if (ids === 1) {
      const prior = isInWords ? ofWords : ofFailures;
      // The last word: controls, which leave after a rest, must not make the service look better than calls do.
      const rate = Math.max(upperRate(this.#all, 1, prior), upperRate(this.#calls, 1, prior));
      const isLate = isInWords && evidence > retries && rate < mostlyWell;
      return evidence >= leastEvidenceOfOne && (chanceOf(rate) < chanceOfOne || isLate);
    }
    const rate = upperRate(this.#all, 0.5);
    if (isPiece) return evidence >= 1 && chanceOf(rate) < chanceOfPiece;
    return evidence >= leastEvidenceOfCall && chanceOf(rate) < chanceOfCall;
  }
}

/** What is assumed before anything is known: one failure of two attempts; of services that answer in words, half of one of five. */
const ofFailures = { failures: 1, attempts: 2 };
const ofWords = { failures: 0.5, attempts: 5 };
/** Below it, the attempts of others mostly go well. */
const mostlyWell = 0.25;

/** The share of attempts that failed, with a prior (as Laplace's rule of succession), and so many standard errors more. */
function upperRate(failuresBefore: readonly number[], errors: number, prior = ofFailures): number {
  const failures = failuresBefore.reduce((sum, each) => sum + each, 0);
  const attempts = failures + failuresBefore.length + prior.attempts;
  const rate = (failures + prior.failures) / attempts;
  return Math.min(mostRate, rate + errors * Math.sqrt((rate * (1 - rate)) / attempts));
}
