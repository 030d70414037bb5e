import type { Departure } from './evidence.ts';

/** Answers in a row after which one more call than failed last, or a shorter gap, is tried again: twice as many each time, up to the most. */
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

/** Attempts whose outcome is remembered. */
const mostRecent = 16;
/** Answers whose distance shows the pace of the service. */
const mostAnswers = 5;
/** So many failures among the recent attempts are worth an experiment. */
const leastFailures = 3;
const firstGapMs = 200;
const leastGapMs = 100;
const mostFirstGapMs = 5000;
const mostGapMs = 30_000;
/** Below this the gap is given up: it is shorter than an exchange. */
const noGapMs = 20;
/** An experiment has shown what it can after so many attempts; the last of them count. */
const trialAttempts = 10;
const trialJudged = 6;
/** A gap is of use when attempts fail less than this share of how often they failed before. */
const usefulShare = 0.75;
/** Attempts before the next experiment, after one that was of no use: twice as many each time. */
const leastBan = 64;
const mostBan = 1024;
/** An experiment with a gap. */
class Trial {
  #attempts = 0;
  /** How the last attempts went: true is an answer. */
  readonly #last: boolean[] = [];
  readonly #failedBefore: number;

  /** @param failedBefore share of attempts that failed before it began */
  constructor(failedBefore: number) {
    this.#failedBefore = failedBefore;
  }

  note(isAnswer: boolean): void {
    this.#attempts += 1;
    keepLast(this.#last, isAnswer, trialJudged);
  }

  /** Whether it has shown that the gap is of no use. */
  get isUseless(): boolean {
    const failed = this.#last.filter((each) => !each).length / trialJudged;
    return this.#attempts >= trialAttempts && failed > usefulShare * this.#failedBefore;
  }
}

/**
 * Finds by experiment whether calls that leave further apart fail less, once fewer at once did not help: the service limits
 * calls a second. The gap begins as the distance of its answers. A gap without use is given up.
 */
export class Spacing {
  gapMs = 0;
  readonly #answersMs: number[] = [];
  readonly #recent: boolean[] = [];
  #trial: Trial | undefined;
  #banned = 0;
  #nextBan = leastBan;
  #patience = leastPatience;
  #answersInRow = 0;
  /** The gap was made shorter since the last failure. */
  #isShortened = false;

  /** @param isControl its distance from others is ours, not the service's */
  answered(nowMs: number, isControl: boolean): void {
    if (!isControl) keepLast(this.#answersMs, nowMs, mostAnswers);
    this.#note(true);
    this.#answersInRow += 1;
    if (this.gapMs === 0 || this.#answersInRow < this.#patience) return;
    this.#answersInRow = 0;
    this.#isShortened = true;
    this.gapMs *= 0.8;
    if (this.gapMs < noGapMs) this.#giveUp();
  }

  /** @param isAlone one call at a time is allowed, and it failed */
  failed(isAlone: boolean): void {
    this.#answersInRow = 0;
    this.#note(false);
    if (!isAlone) return;
    if (this.gapMs === 0) this.#begin();
    else if (this.#isShortened) {
      this.#isShortened = false;
      this.#patience = Math.min(mostPatience, 2 * this.#patience);
      this.gapMs /= 0.8;
    } else this.gapMs = Math.max(this.gapMs, Math.min(mostGapMs, 2 * this.#distanceMs(), 1.5 * this.gapMs));
  }

  #begin(): void {
    const failures = this.#recent.filter((isAnswer) => !isAnswer).length;
    if (this.#banned > 0 || failures < leastFailures) return;
    this.gapMs = Math.min(mostFirstGapMs, Math.max(leastGapMs, this.#distanceMs()));
    this.#trial = new Trial(failures / this.#recent.length);
    this.#patience = leastPatience;
  }

  #note(isAnswer: boolean): void {
    keepLast(this.#recent, isAnswer, mostRecent);
    if (this.#banned > 0) this.#banned -= 1;
    this.#trial?.note(isAnswer);
    if (this.#trial?.isUseless !== true) return;
    this.#giveUp();
    this.#banned = this.#nextBan;
    this.#nextBan = Math.min(mostBan, 2 * this.#nextBan);
  }

  #giveUp(): void {
    this.gapMs = 0;
    this.#trial = undefined;
  }

  /** How far apart the last answers came. */
  #distanceMs(): number {
    const [first, last] = [this.#answersMs[0], this.#answersMs.at(-1)];
    if (first === undefined || last === undefined || this.#answersMs.length < 2) return firstGapMs;
    return (last - first) / (this.#answersMs.length - 1);
  }
}

function keepLast<T>(list: T[], item: T, most: number): void {
  list.push(item);
  if (list.length > most) list.shift();
}
