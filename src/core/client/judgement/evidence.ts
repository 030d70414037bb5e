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
