/** What has happened since the look before. */
export interface PaceLook {
  /** Milliseconds since 1970 UTC. */
  readonly nowMs: number;
  /** Ids that the run has fetched so far; answers that earlier runs kept do not count. */
  readonly ids: number;
  /** Ids of the calls in flight. */
  readonly idsInFlight: number;
  /** Milliseconds since the look before in which all calls were paused. */
  readonly pausedMs: number;
  /** The same for waits for the next day's credits, which say nothing of the speed. */
  readonly waitedMs: number;
  /** Calls that were answered so far. */
  readonly answers: number;
}

/** Time constant of the recent speed. */
const recentMs = 30_000;

/** Before this the time left would be a guess. */
const leastMs = 5000;
const leastAnswers = 2;

/** The time left changes by at most this factor in so many milliseconds, and from one look to the next. Below the floor a jump is of no account. */
const mostChange = 1.5;
const changeMs = 2000;
const floorMs = 2000;

/**
 * Speed and time left of a run. The time left comes from the mean of the recent speed, which leaves out pauses, and of the
 * average since the start, which counts them. Pauses are expected to come again once there were two.
 */
export class RunPace {
  #startMs: number;
  #look: PaceLook;
  #ids = 0;
  /** Recent ids and milliseconds, weighted by their age. */
  #recentIds = 0;
  #recentTime = 0;
  #pausedMs = 0;
  #pauses = 0;
  #isPaused = false;
  #left: { readonly ms: number; readonly atMs: number } | undefined;

  /** @param startMs when the first call was sent */
  constructor(startMs: number) {
    this.#startMs = startMs;
    this.#look = { nowMs: startMs, ids: 0, idsInFlight: 0, pausedMs: 0, waitedMs: 0, answers: 0 };
  }

  look(look: PaceLook): void {
    const workedMs = Math.max(0, look.nowMs - this.#look.nowMs - look.pausedMs - look.waitedMs);
    this.#startMs += look.waitedMs;
    this.#addPause(look.pausedMs, workedMs);
    // What arrives in a pause counts with the time that follows it.
    if (workedMs > 0) {
      const weight = Math.exp(-workedMs / recentMs);
      this.#recentIds = this.#recentIds * weight + (look.ids - this.#ids);
      this.#recentTime = this.#recentTime * weight + workedMs;
      this.#ids = look.ids;
    }
    this.#look = look;
  }

  /** Ids a second; held while calls are paused. */
  idsPerSecond(): number {
    return this.#recentTime === 0 ? 0 : (this.#recentIds / this.#recentTime) * 1000;
  }

  /** Whether enough has happened for the time left to be shown. */
  isKnown(): boolean {
    return this.#look.nowMs - this.#startMs >= leastMs && this.#look.answers >= leastAnswers;
  }

  /**
   * Milliseconds for so many ids more; undefined until one was fetched, and never again after.
   * @param pauseMs what is left of a pause
   */
  timeLeft(idsLeft: number, pauseMs: number): number | undefined {
    const { nowMs } = this.#look;
    const runMs = nowMs - this.#startMs;
    // Without what is under way, the time of the first calls would count against the speed. It is half done on average.
    const done = this.#ids + (this.#ids === 0 ? 0 : this.#look.idsInFlight / 2);
    const average = runMs <= 0 ? 0 : (done / runMs) * 1000;
    const pausedShare = this.#pauses < 2 || runMs <= 0 ? 0 : this.#pausedMs / runMs;
    const idsPerSecond = (this.idsPerSecond() * (1 - pausedShare) + average) / 2;
    if (idsPerSecond <= 0) return this.#left?.ms;
    const ms = pauseMs + (idsLeft / idsPerSecond) * 1000;
    this.#left = { ms: this.#steady(ms, nowMs), atMs: nowMs };
    return this.#left.ms;
  }

  /** Looks at a pause follow one another. */
  #addPause(pausedMs: number, workedMs: number): void {
    this.#pausedMs += pausedMs;
    if (pausedMs > 0 && !this.#isPaused) this.#pauses += 1;
    this.#isPaused = pausedMs > 0 && workedMs === 0;
  }

  #steady(ms: number, nowMs: number): number {
    const last = this.#left;
    if (last === undefined) return ms;
    const passedMs = nowMs - last.atMs;
    if (passedMs === 0) return last.ms;
    const expected = Math.max(floorMs, last.ms - passedMs);
    const most = mostChange ** Math.max(1, passedMs / changeMs);
    return Math.min(expected * most, Math.max(expected / most, ms));
  }
}
