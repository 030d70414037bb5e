import { CallLimit, type Concurrency, usualAtOnce } from './call-limit.ts';
import { type Backlog, type Departure, type FailedAttempt, FailureRate, type Suspect } from './suspicion.ts';

/** What follows for a call whose attempt failed. */
export type Verdict =
  /** Another attempt, after so many milliseconds. */
  | { readonly kind: 'again'; readonly waitMs: number }
  /** One of its ids is to blame: its halves show which. */
  | { readonly kind: 'cut' }
  /** Its one id is to blame. */
  | { readonly kind: 'blamed' }
  /** The service is unavailable: nothing more is sent. */
  | { readonly kind: 'end'; readonly why: Unavailable };

/** Why the service counts as unavailable: it never answered, it stopped to, it refuses the form of every call, or never takes a call. */
export type Unavailable = 'contact' | 'outage' | 'form' | 'pace';

export interface JudgementOptions {
  /** Most calls in flight. */
  readonly concurrency: Concurrency;
  /** Calls in flight that an earlier run ended with. */
  readonly learnedCalls?: number | undefined;
  /** An outage gets one probe more than this. */
  readonly retries: number;
  /** How long a service that never answered is tried, in milliseconds; absent: it has answered an earlier client. */
  readonly silenceMs?: number | undefined;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
}

/** How long a call waits before its next attempt, and an outage before its next probe: at most twice as long each time. */
const firstWaitMs = 500;
const mostWaitMs = 30_000;
/** A wait that the service asks for is never shorter, or calls would storm; nor longer, as `Retry-After` may name a day. */
const leastHoldMs = 1000;
const mostHoldMs = 60_000;
/** After the answer to a control, suspects rest: a service that limits calls a second would refuse what follows it at once. */
const firstRestMs = 250;
const mostRestMs = 2000;
/** So often a call may fail before it is a poor probe; more often while no id is known to be good. */
const unsuspected = 2;
const unsuspectedAtFirst = 4;
/** Attempts of an id alone that is refused in words, until another call has to show that the service is up. */
const attemptsAControl = 3;
/** Refusals of the first calls that show that the service wants another form. */
const refusalsOfForm = 3;
/** Answers without a record that follow one another until more than one call leaves: fewer, of 100 ids or more, may end the run. */
const emptyAtFirst = 10;
/** So often a call that is alone is refused for its pace before the run ends. */
const mostPaced = 20;

/**
 * What the attempts of all calls together show of the service: pure, without a clock and without a promise. Trouble has three
 * explanations, told apart by experiment:
 * - too many or too fast: fewer calls, further apart, fail less (`CallLimit`)
 * - the service is down: nobody is answered; one call at a time probes, and time ends it
 * - an id: its call fails although others are answered, more often than chance explains (`FailureRate`)
 *
 * Until the first answer one call is in flight: a service that refuses the form of calls costs three of them.
 */
export class Judgement {
  readonly limit: CallLimit;
  readonly #rate = new FailureRate();
  readonly #options: JudgementOptions;
  #isFirstContact = true;
  #isOpen = false;
  /** Finite until anything answers, if only a gateway. */
  #silenceMs: number;
  #firstFailureMs: number | undefined;
  #refusalsAtFirst = 0;
  /** Definite answers to all calls. */
  #answers = 0;
  #failedInRow = 0;
  /** So many failures in a row are an outage. */
  #mostInRow = 0;
  /** Ids of a call, of late: a call of few is answered sooner. */
  #usualIds = 0;
  #holdMs = 0;
  #holds = 0;
  /** Probes that failed; undefined while there is no outage. */
  #probes: number | undefined;
  /** So many probes are calls: when one is answered, nothing was spent on the outage. After them, controls. */
  #probesByCalls = 0;
  #failedControls = 0;
  #restMs = 0;

  constructor(options: JudgementOptions) {
    this.#options = options;
    this.#silenceMs = options.silenceMs ?? Number.POSITIVE_INFINITY;
    this.limit = new CallLimit(options.concurrency, options.learnedCalls);
  }

  /** Nothing was answered yet. */
  get isFirstContact(): boolean {
    return this.#isFirstContact;
  }

  /** Whether an answer has let more than one call out. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  get isOutage(): boolean {
    return this.#probes !== undefined;
  }

  /** No call leaves before, in milliseconds of the judgement's time. */
  get notBeforeMs(): number {
    return Math.max(this.#holdMs, this.limit.nextMs);
  }

  /** Whether an id that is known, or one id of a call, should be requested alone before any call. */
  get wantsControl(): boolean {
    if (this.#probes !== undefined) return this.#probes >= this.#probesByCalls;
    return this.#isFirstContact && this.#refusalsAtFirst > 0;
  }

  /** How long an outage may last from now on, in milliseconds, on average. */
  patienceMs(nowMs: number): number {
    let ms = 0;
    for (let probe = this.#probes ?? 0; probe < this.#options.retries; probe += 1) ms += 0.875 * probeWaitMs(probe);
    return Math.min(ms, (this.#firstFailureMs ?? nowMs) + this.#silenceMs - nowMs);
  }

  suspect(ids: number, isPiece: boolean): Suspect {
    return {
      isPiece,
      ids,
      failures: 0,
      evidence: 0,
      paced: 0,
      isInWords: true,
      alone: 0,
      answersBefore: this.#answers,
    };
  }

  leaves(nowMs: number, atOnce: number): Departure {
    this.limit.left(nowMs);
    const followsFailure = this.limit.calls === 1 && this.#failedInRow > 0;
    return { atOnce, cuts: this.limit.cuts, holds: this.#holds, followsFailure };
  }

  /** Whether a call may still leave that waited since it got its turn. */
  mayLeave({ holds }: Departure): boolean {
    return holds === this.#holds;
  }

  /** The service refused the size of a call: it lives, but may refuse the form of calls too. */
  refusedSize(): void {
    this.#silenceMs = Number.POSITIVE_INFINITY;
    this.#failedInRow = 0;
    if (!this.#isFirstContact) this.#endOutage();
  }

  /**
   * @param suspect undefined of a control
   * @param isEmpty whether the answer has no record: calls stay one at a time, as the list may be one of something else
   * @param latencyMs how long the service took, where that is known
   */
  answered(suspect: Suspect | undefined, nowMs: number, isEmpty = false, latencyMs?: number): void {
    this.#answers += 1;
    this.#failedInRow = 0;
    this.#silenceMs = Number.POSITIVE_INFINITY;
    this.#isFirstContact = false;
    if (!this.#isOpen && (!isEmpty || this.#answers >= emptyAtFirst)) {
      this.#isOpen = true;
      this.limit.open();
    }
    this.#endOutage();
    this.#usualIds = Math.max(suspect?.ids ?? 0, 0.9 * this.#usualIds);
    const isUsual = suspect !== undefined && suspect.ids >= this.#usualIds / 2;
    this.limit.answered(nowMs, suspect === undefined, isUsual ? latencyMs : undefined);
    this.#rate.add(suspect?.failures ?? this.#failedControls, suspect === undefined);
    if (suspect === undefined) {
      this.#failedControls = 0;
      this.#hold(nowMs, this.#jittered(this.#restMs));
      this.#restMs = Math.min(mostRestMs, Math.max(firstRestMs, 2 * this.#restMs));
    } else this.#restMs = 0;
  }

  /** A call of an earlier run was answered: what fails now is not what most calls meet. */
  wasAnswered(): void {
    this.#rate.add(0, false);
  }

  /** @param suspect undefined of a control */
  failed(suspect: Suspect | undefined, failure: FailedAttempt, at: FailureMoment): Verdict {
    const { nowMs, backlog } = at;
    // Of calls that leave at one moment the first seems to be alone.
    const departure = { ...at.departure, atOnce: Math.max(at.departure.atOnce, backlog.inFlight + 1) };
    if (this.#failedInRow === 0) this.#mostInRow = this.#leastOfOutage(departure.atOnce);
    this.#failedInRow += 1;
    this.#firstFailureMs ??= nowMs;
    if (failure.silent !== true) this.#silenceMs = Number.POSITIVE_INFINITY;
    const holdMs = this.limit.failed(departure, nowMs, this.isOutage);
    // A piece is expected to fail: others need not wait for it.
    if (holdMs > 0 && suspect?.isPiece !== true) this.#hold(nowMs, holdMs * (0.5 + this.#options.random() / 2));
    if (failure.waitMs !== undefined || failure.trouble === 'pace') this.#hold(nowMs, this.#heldMs(failure.waitMs));
    const verdict = suspect === undefined ? undefined : this.#judge(suspect, failure, departure);
    if (verdict !== undefined && this.#probes === undefined) return verdict;
    const ofService = this.#judgeService(suspect, failure, { nowMs, backlog });
    return ofService?.kind === 'end' ? ofService : (verdict ?? ofService ?? this.#again(suspect));
  }

  /** What the failure tells of the call. */
  #judge(
    suspect: Suspect,
    { trouble, unsent, inWords }: FailedAttempt,
    { atOnce, followsFailure }: Departure,
  ): Verdict | undefined {
    suspect.failures += 1;
    if (trouble === 'pace') {
      if (atOnce === 1) suspect.paced += 1;
      return suspect.paced > mostPaced ? { kind: 'end', why: 'pace' } : undefined;
    }
    if (unsent === true) return undefined;
    const isFair = suspect.ids > 1 || !followsFailure;
    const wereOthersAnswered = this.#answers > suspect.answersBefore;
    suspect.alone = wereOthersAnswered || !inWords ? 0 : suspect.alone + 1;
    if (!inWords) suspect.isInWords = false;
    if ((isFair && wereOthersAnswered) || this.#speaksOf(suspect)) suspect.evidence += 1;
    suspect.answersBefore = this.#answers;
    if (!this.#rate.blames(suspect, this.#options.retries)) return undefined;
    return { kind: suspect.ids === 1 ? 'blamed' : 'cut' };
  }

  /** A service that answers one id alone in words is up: it need not be shown before each attempt. */
  #speaksOf({ ids, isInWords, evidence, alone }: Suspect): boolean {
    return ids === 1 && isInWords && evidence > 0 && alone > 0 && alone < attemptsAControl;
  }

  /** What the failure tells of the service. */
  #judgeService(
    suspect: Suspect | undefined,
    { trouble, waitMs }: FailedAttempt,
    { nowMs, backlog }: Omit<FailureMoment, 'departure'>,
  ): Verdict | undefined {
    if (this.#isFirstContact && trouble === 'refusal' && !this.isOutage) {
      this.#refusalsAtFirst += 1;
      return this.#refusalsAtFirst < refusalsOfForm ? { kind: 'again', waitMs: 0 } : { kind: 'end', why: 'form' };
    }
    if (this.#probes !== undefined) return this.#probeFailed(this.#probes, nowMs, waitMs);
    if (suspect === undefined) this.#failedControls += 1;
    const areSuspectsLeft =
      backlog.fresh === 0 && backlog.inFlight === 0 && (suspect === undefined || !this.#speaksOf(suspect));
    const isOutage = this.#isFirstContact || this.#failedInRow >= this.#mostInRow || areSuspectsLeft;
    if (!isOutage) return undefined;
    this.#probes = 0;
    // What failed often, or is expected to fail, says little of the service.
    const most = this.#isFirstContact ? unsuspectedAtFirst : unsuspected;
    this.#probesByCalls = suspect?.isPiece === false ? Math.max(0, most - suspect.failures) : 0;
    this.#holds += 1;
    this.limit.shut();
    if (this.#isFirstContact) {
      this.#probes = 1; // Nothing was ever answered: the failure that begins the outage is its first probe.
      this.#probesByCalls += 1;
      if (this.#options.retries === 0) return this.#gone();
    }
    return { kind: 'again', waitMs: 0 };
  }

  /** All that was in flight when the first call failed, and those that left behind it. */
  #leastOfOutage(atOnce: number): number {
    const { concurrency } = this.#options;
    return concurrency === 'auto' ? Math.max(2 * usualAtOnce('auto'), atOnce + usualAtOnce('auto')) : 2 * concurrency;
  }

  #probeFailed(probes: number, nowMs: number, waitMs = 0): Verdict {
    this.#probes = probes + 1;
    const holdMs = Math.max(Math.min(mostHoldMs, waitMs), this.#jittered(probeWaitMs(probes)));
    const isLate = nowMs + holdMs - (this.#firstFailureMs ?? nowMs) > this.#silenceMs;
    if (probes >= this.#options.retries || isLate) return this.#gone();
    this.#hold(nowMs, holdMs);
    return { kind: 'again', waitMs: 0 };
  }

  #gone(): Verdict {
    return { kind: 'end', why: this.#silenceMs < Number.POSITIVE_INFINITY ? 'contact' : 'outage' };
  }

  #endOutage(): void {
    if (this.#probes === undefined) return;
    this.#probes = undefined;
    this.#holdMs = 0;
    this.limit.resume();
  }

  /** Backoff with full jitter, so that calls that failed together part. */
  #again(suspect: Suspect | undefined): Verdict {
    const most = Math.min(mostWaitMs, firstWaitMs * 2 ** ((suspect?.failures ?? 1) - 1));
    return { kind: 'again', waitMs: Math.round(this.#options.random() * most) };
  }

  #hold(nowMs: number, ms: number): void {
    if (ms <= 0 || nowMs + ms <= this.#holdMs) return;
    this.#holdMs = nowMs + ms;
    this.#holds += 1;
  }

  #heldMs(waitMs = leastHoldMs * (1 + this.#options.random())): number {
    return Math.min(mostHoldMs, Math.max(leastHoldMs, waitMs));
  }

  #jittered(ms: number): number {
    return ms * (0.75 + this.#options.random() / 4);
  }
}

/** When and how an attempt failed. */
export interface FailureMoment {
  readonly nowMs: number;
  readonly departure: Departure;
  readonly backlog: Backlog;
}

/** How long is waited after so many probes, or stale answers, in a row: at most twice as long each time, in milliseconds. */
export function probeWaitMs(probes: number): number {
  return Math.min(mostWaitMs, firstWaitMs * 2 ** probes);
}
