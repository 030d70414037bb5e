import { utcDay } from '../../lib/clock.ts';
import { type CreditLimits, creditsLeftOf } from '../run/record/runs-model.ts';

/** Limits in credits, and the price of a call. */
export interface PricedLimits extends CreditLimits {
  readonly creditsPerCall: number;
}

/** What the limits leave while a run sends calls. Each UTC day has its own. */
export class CreditsLeft {
  readonly #limits: PricedLimits;
  #day: string;
  /** Booked on this day before the run, and the calls of the run on earlier days. */
  #booked: number;
  #callsBefore = 0;

  /** @param booked on the UTC day of `nowMs`, before the run */
  constructor(limits: PricedLimits, booked: number, nowMs: number) {
    this.#limits = limits;
    this.#booked = booked;
    this.#day = utcDay(nowMs);
  }

  /** What the tightest limit leaves after so many calls; undefined without a limit. @param bookedByAll on this UTC day, where others share the ledger */
  after(calls: number, nowMs: number, bookedByAll = 0): number | undefined {
    const { creditsPerCall } = this.#limits;
    if (utcDay(nowMs) !== this.#day) {
      this.#day = utcDay(nowMs);
      this.#callsBefore = calls;
      this.#booked = 0;
    }
    const today = Math.max(bookedByAll, this.#booked + (calls - this.#callsBefore) * creditsPerCall);
    return creditsLeftOf(this.#limits, { today, ofRun: calls * creditsPerCall });
  }
}
