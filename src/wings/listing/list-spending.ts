import type { Tally } from '../../places/scratch/tally.ts';

/** Calls of a list and their credits, over all processes. */
export class ListSpending {
  readonly #calls: Tally;
  readonly #credits: Tally;
  readonly #price: number;
  readonly #before: { readonly calls: number; readonly credits: number };

  constructor(calls: Tally, credits: Tally, price: number) {
    this.#calls = calls;
    this.#credits = credits;
    this.#price = price;
    this.#before = { calls: calls.total(), credits: credits.total() };
  }

  get calls(): number {
    return this.#calls.total();
  }

  get credits(): number {
    return this.#credits.total();
  }

  ofRun(): { readonly callsOfRun: number; readonly creditsOfRun: number } {
    return { callsOfRun: this.calls - this.#before.calls, creditsOfRun: this.credits - this.#before.credits };
  }

  async sent(): Promise<void> {
    await Promise.all([this.#calls.add(1), this.#credits.add(this.#price)]);
  }

  async returned({ sent }: { readonly sent: boolean }): Promise<void> {
    await Promise.all([sent ? undefined : this.#calls.add(-1), this.#credits.add(-this.#price)]);
  }
}
