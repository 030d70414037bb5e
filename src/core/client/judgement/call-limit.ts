import type { Departure } from './evidence.ts';
import { Spacing } from './spacing.ts';

/** Answers in a row after which one more call than failed last is tried again: twice as many each time, up to the most. */
const leastPatience = 16;
const mostPatience = 1024;
/** After calls failed, all wait up to so long before fewer go on, twice as long each time without an answer. */
const cutHoldMs = 500;
const mostDoublings = 4;

/**
 * How many calls the service takes at once, and how far apart: fewer when attempts fail (half as many), more after answers
 * (one at a time). Failures of calls that left before the last cut do not cut again.
 */
export class CallLimit {
  /** Calls in flight, at most. */
  calls = 1;
  /** How often it was lowered. */
  cuts = 0;
  readonly #most: number;
  readonly #spacing = new Spacing();
  /** So many calls at once were too many. */
  #ceiling = Number.POSITIVE_INFINITY;
  #patience = leastPatience;
  #answersInRow = 0;
  #cutsInRow = 0;
  #nextMs = 0;

  /** @param most calls in flight that the job allows */
  constructor(most: number) {
    this.#most = most;
  }

  /** Least time between two calls, in milliseconds. */
  get gapMs(): number {
    return this.#spacing.gapMs;
  }

  get isLowered(): boolean {
    return this.calls < this.#most || this.gapMs > 0;
  }

  /** When the next call may leave, in milliseconds of the judgement's time. */
  get nextMs(): number {
    return this.gapMs === 0 ? 0 : this.#nextMs;
  }

  left(nowMs: number): void {
    this.#nextMs = nowMs + this.gapMs;
  }

  /** All calls that the job allows: the service has answered for the first time. */
  open(): void {
    this.calls = this.#most;
  }

  /** One call at a time probes. */
  shut(): void {
    this.calls = 1;
  }

  /** After an outage: half of the calls that were too many last. */
  resume(): void {
    const half = this.#ceiling === Number.POSITIVE_INFINITY ? this.#most : Math.floor(this.#ceiling / 2);
    this.calls = Math.max(1, Math.min(this.#most, half));
  }

  answered(nowMs: number, isControl: boolean): void {
    this.#cutsInRow = 0;
    this.#spacing.answered(nowMs, isControl);
    if (isControl || this.gapMs > 0) return;
    this.#answersInRow += 1;
    const next = this.calls + 1;
    const patience = next >= this.#ceiling ? this.#patience : 2 * this.calls;
    if (next > this.#most || this.#answersInRow < patience) return;
    this.calls = next;
    this.#answersInRow = 0;
  }

  /**
   * How long all calls have to wait now, at most, in milliseconds; 0: no longer than before.
   * @param isOutage a probe failed: how many calls at once are taken is not the question
   */
  failed({ atOnce, cuts }: Departure, nowMs: number, isOutage: boolean): number {
    this.#answersInRow = 0;
    const isNew = cuts >= this.cuts;
    this.#spacing.failed(isNew && atOnce === 1 && this.calls === 1 && !isOutage);
    this.#nextMs = Math.max(this.#nextMs, nowMs + this.gapMs);
    if (!isNew || atOnce === 1) return 0;
    this.cuts += 1;
    this.#patience = atOnce >= this.#ceiling ? Math.min(mostPatience, 2 * this.#patience) : leastPatience;
    this.#ceiling = atOnce;
    this.calls = Math.max(1, Math.floor(Math.min(this.calls, atOnce) / 2));
    if (isOutage) return 0;
    this.#cutsInRow += 1;
    return cutHoldMs * 2 ** Math.min(this.#cutsInRow - 1, mostDoublings);
  }
}
