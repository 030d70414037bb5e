/** Between two refusals that end a run, in milliseconds: those of one moment may come from one backend. */
const leastApartMs = 1000;

/**
 * Whether a refusal that would end the run (spent, key refused, certificate not valid) is believed: pure, without a clock. Once the
 * service has answered, one of several backends may say so alone: then it takes two refusals, a second apart, without an answer between.
 */
export class Ends {
  #hasAnswered = false;
  #firstMs = 0;
  /** Since the last answer. */
  #refusals = 0;

  answered(): void {
    this.#hasAnswered = true;
    this.#refusals = 0;
  }

  /**
   * Whether a refusal ends the run; else for how many milliseconds its call waits before it leaves again. Calls that were refused
   * together wait one after another: what the first of them brings decides for all.
   */
  refused(nowMs: number): 'believed' | number {
    if (this.#refusals === 0) this.#firstMs = nowMs;
    if (!this.#hasAnswered || (this.#refusals > 0 && nowMs - this.#firstMs >= leastApartMs)) return 'believed';
    this.#refusals += 1;
    return this.#refusals * leastApartMs;
  }
}
