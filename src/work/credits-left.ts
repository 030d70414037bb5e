import { utcDay } from '../lib/clock.ts';

/** Limits in credits; those that are absent do not hold. */
export interface CreditLimits {
  readonly creditsPerCall: number;
  readonly creditsPerRun?: number | undefined;
  readonly creditsPerDay?: number | undefined;
}

/** What the limits leave while a run sends calls. Each UTC day has its own. */
export class CreditsLeft {
  readonly #limits: CreditLimits;
  #day: string;
  /** Booked on this day before the run, and the calls of the run on earlier days. */
  #booked: number;
  #callsBefore = 0;

  /** @param booked on the UTC day of `nowMs`, before the run */
  constructor(limits: CreditLimits, booked: number, nowMs: number) {
    this.#limits = limits;
    this.#booked = booked;
    this.#day = utcDay(nowMs);
  }

  /** What the tightest limit leaves after so many calls; undefined without a limit. */
  after(calls: number, nowMs: number): number | undefined {
    const { creditsPerCall, creditsPerRun, creditsPerDay } = this.#limits;
    if (utcDay(nowMs) !== this.#day) {
      this.#day = utcDay(nowMs);
      this.#callsBefore = calls;
      this.#booked = 0;
    }
    const ofDay =
      creditsPerDay === undefined ? [] : [creditsPerDay - this.#booked - (calls - this.#callsBefore) * creditsPerCall];
    const ofRun = creditsPerRun === undefined ? [] : [creditsPerRun - calls * creditsPerCall];
    const limits = [...ofDay, ...ofRun];
    return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
  }
}
