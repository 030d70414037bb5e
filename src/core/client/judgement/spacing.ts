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
/** Answers in a row before a shorter gap is tried: twice as many each time that it was too short. */
const leastPatience = 16;
const mostPatience = 1024;

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
