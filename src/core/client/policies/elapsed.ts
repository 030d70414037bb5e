import type { Clock } from '../../../lib/clock.ts';

/** Time that passed, in milliseconds. A clock that is set back counts as one that stood still. */
export class Elapsed {
  readonly #clock: Clock;
  #lookedMs: number;
  #passedMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#lookedMs = clock.now();
  }

  now(): number {
    const nowMs = this.#clock.now();
    this.#passedMs += Math.max(0, nowMs - this.#lookedMs);
    this.#lookedMs = nowMs;
    return this.#passedMs;
  }

  /** A sleep up to this moment is over, whatever the clock says. */
  reach(ms: number): void {
    this.#passedMs = Math.max(this.now(), ms);
  }
}
