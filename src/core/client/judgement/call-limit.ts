import type { Departure } from './suspicion.ts';

/** Answers in a row after which one more call than failed last, or a shorter gap, is tried again: twice as many each time, up to the most. */
const leastPatience = 16;
const mostPatience = 1024;
/** After calls failed, all wait up to so long before fewer go on, twice as long each time without an answer. */
const cutHoldMs = 500;
const mostDoublings = 4;

/** How many calls the job allows at once: a fixed maximum, or as many as are of use. */
export type Concurrency = number | 'auto';

/** `auto` begins with so many, and never has more than the most. */
const firstCalls = 8;
const mostCalls = 128;

/** The most calls at once that a job may ever have. */
export function mostAtOnce(concurrency: Concurrency): number {
  return concurrency === 'auto' ? mostCalls : concurrency;
}

/** The usual calls at once, where nothing is known yet. @param learned by an earlier run */
export function usualAtOnce(concurrency: Concurrency, learned = firstCalls): number {
  return concurrency === 'auto' ? Math.max(1, Math.min(mostCalls, learned)) : concurrency;
}

/**
 * How many calls the service takes at once, and how far apart: fewer when attempts fail (half as many), more after answers.
 * With `auto`, no more than make answers come faster (`Gradient`). Failures of calls that left before the last cut do not cut again.
 */
export class CallLimit {
  /** Calls in flight, at most. */
  calls = 1;
  /** How often it was lowered. */
  cuts = 0;
  readonly #most: number;
  readonly #usual: number;
  readonly #gradient: Gradient | undefined;
  readonly #spacing = new Spacing();
  /** So many calls at once were too many. */
  #ceiling = Number.POSITIVE_INFINITY;
  #patience = leastPatience;
  #answersInRow = 0;
  #cutsInRow = 0;
  #nextMs = 0;

  /** @param learned calls at once that an earlier run ended with */
  constructor(concurrency: Concurrency, learned?: number) {
    this.#most = mostAtOnce(concurrency);
    this.#usual = usualAtOnce(concurrency, learned);
    this.#gradient = concurrency === 'auto' ? new Gradient() : undefined;
  }

  /** Least time between two calls, in milliseconds. */
  get gapMs(): number {
    return this.#spacing.gapMs;
  }

  /** The service takes fewer calls than it is usually sent. */
  get isLowered(): boolean {
    const isRefused = this.#gradient === undefined || this.#ceiling < Number.POSITIVE_INFINITY;
    return (isRefused && this.calls < this.#usual) || this.gapMs > 0;
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
    this.calls = this.#usual;
  }

  /** One call at a time probes. */
  shut(): void {
    this.calls = 1;
  }

  /** After an outage: half of the calls that were too many last. */
  resume(): void {
    const half = this.#ceiling === Number.POSITIVE_INFINITY ? this.#usual : Math.floor(this.#ceiling / 2);
    this.calls = Math.max(1, Math.min(this.#most, half));
  }

  /** @param latencyMs how long the service took for a call of the usual size; undefined of others, and where that is not known */
  answered(nowMs: number, isControl: boolean, latencyMs?: number): void {
    this.#cutsInRow = 0;
    this.#spacing.answered(nowMs, isControl);
    if (isControl || this.gapMs > 0) return;
    this.#answersInRow += 1;
    const worth = this.#gradient?.answered(nowMs, latencyMs, this.calls) ?? this.#most;
    if (worth < this.calls) this.#become(worth);
    if (worth <= this.calls) return;
    if (this.#gradient?.isStarting === true && this.#ceiling === Number.POSITIVE_INFINITY) {
      if (latencyMs !== undefined) this.#become(this.calls + 2);
      return;
    }
    const isAtCeiling = this.calls + 1 >= this.#ceiling;
    if (this.#answersInRow < (isAtCeiling ? this.#patience : 2 * this.calls)) return;
    const step = Math.max(1, Math.floor(Math.sqrt(this.calls) / 2));
    this.#become(isAtCeiling ? this.calls + 1 : Math.min(this.calls + step, this.#ceiling - 1));
  }

  #become(calls: number): void {
    this.calls = Math.min(this.#most, calls);
    this.#answersInRow = 0;
  }

  /**
   * How long all calls have to wait now, at most, in milliseconds; 0: no longer than before.
   * @param isOutage a probe failed: how many calls at once are taken is not the question
   */
  failed({ atOnce, cuts }: Departure, nowMs: number, isOutage: boolean): number {
    this.#answersInRow = 0;
    this.#gradient?.failed();
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

/** A round is as many answers as there are calls in flight, and at least so many. */
const leastRound = 16;
/** When calls take so much longer than the smallest mean, they wait in a queue. */
const queuedFrom = 1.5;
/** More calls are of use where those in flight wait for the service so much of their time, not for their pace or this machine. */
const leastUse = 0.6;
/** What is left of a queue. */
const keptQueue = 1.05;

/**
 * Finds how many calls at once make answers come faster: pure, with the clock as an argument. As TCP Vegas and Netflix's
 * concurrency-limits do, it compares the mean latency of each round with the smallest: what is longer is a queue, which
 * more calls make longer while answers come no faster. It starts with two calls more for each answer.
 */
class Gradient {
  /** Until a round shows a queue, or an attempt fails. */
  isStarting = true;
  #mayGrow = true;
  #leastMs = Number.POSITIVE_INFINITY;
  /** The round: when it began, the calls in flight, now and at its first answer; its answers, and the latencies that are known. */
  #beganMs = 0;
  #calls = 0;
  #atFirst = 0;
  #answers = 0;
  #known = 0;
  #sumMs = 0;
  /** Answers that still come of calls that left under another number; whether there were none in this round. */
  #stale = 0;
  #isSteady = false;
  /** How long calls took before there were fewer. */
  #before: { readonly calls: number; readonly ms: number } | undefined;

  failed(): void {
    this.isStarting = false;
    this.#mayGrow = true;
    this.#before = undefined;
    this.#answers = 0;
  }

  /** How many calls at once are of use: fewer than there are, as many, or (`Infinity`) more. */
  answered(nowMs: number, latencyMs: number | undefined, calls: number): number {
    // The first call is alone: it shows the latency without a queue.
    if (this.#leastMs === Number.POSITIVE_INFINITY) {
      this.#leastMs = latencyMs ?? this.#leastMs;
      this.#beganMs = nowMs;
      return calls;
    }
    this.#stale = calls === this.#calls ? Math.max(0, this.#stale - 1) : Math.max(calls, this.#calls);
    if (this.#answers === 0) this.#known = this.#sumMs = 0;
    this.#isSteady = (this.#isSteady || this.#answers === 0) && this.#stale === 0;
    this.#calls = calls;
    this.#answers += 1;
    if (latencyMs !== undefined) {
      this.#known += 1;
      this.#sumMs += latencyMs;
    }
    if (this.#answers === 1) this.#atFirst = calls;
    const worth = this.#answers < Math.max(leastRound, this.#atFirst) ? calls : this.#judge(nowMs, calls);
    if (worth < calls) return worth;
    const isLate = this.isStarting && (latencyMs ?? 0) > queuedFrom * this.#leastMs;
    return this.#mayGrow && !isLate ? Number.POSITIVE_INFINITY : calls;
  }

  /** Ends a round. How many calls at once are left. */
  #judge(nowMs: number, calls: number): number {
    const ms = this.#sumMs / Math.max(1, this.#known);
    const use = this.#sumMs / Math.max(1, nowMs - this.#beganMs) / this.#atFirst;
    // Most latencies are not known: calls wait for this machine.
    const isOurs = this.#known < this.#answers / 2;
    const isSteady = this.#isSteady;
    this.#answers = 0;
    this.#beganMs = nowMs;
    this.#leastMs = isOurs ? this.#leastMs : Math.min(this.#leastMs, ms);
    if (isSteady && !isOurs) this.#compare(calls, ms);
    this.#mayGrow = !isOurs && use >= leastUse && this.#before === undefined;
    if (isOurs) return calls;
    if (ms <= queuedFrom * this.#leastMs) return calls;
    this.isStarting = false;
    this.#mayGrow = false;
    if (!isSteady) return calls;
    this.#before = { calls, ms };
    return Math.max(1, Math.ceil((keptQueue * calls * this.#leastMs) / ms));
  }

  /** Fewer calls, that take hardly less: they did not queue, the service takes longer than it did. */
  #compare(calls: number, ms: number): void {
    if (this.#before === undefined) return;
    const share = calls / this.#before.calls;
    if (ms > (this.#before.ms * 2 * share) / (1 + share)) {
      this.#leastMs = ms;
      this.isStarting = true;
    }
    this.#before = undefined;
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
