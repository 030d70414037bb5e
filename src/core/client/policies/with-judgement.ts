import {
  type CallOutline,
  type AssetAnswer,
  type Asker,
  type RefusedAnswer,
  AttemptError,
  isTrouble,
  type ClientListener,
} from '../asset-client.ts';
import type { Clock } from '../../../lib/clock.ts';
import { firstContactMs } from '../../../lib/network.ts';
import type { ExportError } from '../../../lib/export-error.ts';
import type { Departure, Suspect } from '../judgement/suspicion.ts';
import type { Concurrency } from '../judgement/call-limit.ts';
import { Judgement } from '../judgement/judgement.ts';
import type { Ended } from './day-gate.ts';
import { fromCache, ServiceReport, unavailable, untrusted, Elapsed } from './service-report.ts';
import { priorities, Slots } from './slots.ts';

/** A call for one id alone, by which the state of the service shows: an id, or where it stands in the call, from 0 up to 1. */
export type ControlOf<Call> = (call: Call, id: string | number) => Call;

/** Chooses which id of which call shows the state of the service. */
class Controls<Call extends CallOutline> {
  readonly #controlOf: ControlOf<Call>;
  readonly #random: () => number;
  /** Calls without a definite answer, the oldest first. */
  readonly #open = new Set<Call>();
  /** An id that was answered, here or in an earlier run. */
  #known: string | undefined;
  /** Where the last control stood in its call: the next one is another id. */
  #place: number;

  constructor(controlOf: ControlOf<Call>, random: () => number) {
    this.#controlOf = controlOf;
    this.#random = random;
    this.#place = random();
  }

  opened(call: Call): void {
    this.#open.add(call);
  }

  closed(call: Call): void {
    this.#open.delete(call);
  }

  isOpen(call: Call): boolean {
    return this.#open.has(call);
  }

  answered(call: Call): void {
    this.#known = call.ids.first ?? this.#known;
  }

  knows(id: string): void {
    this.#known ??= id;
  }

  /** The oldest open call that has a control. A call of one id is its own. */
  oldest(): Call | undefined {
    return [...this.#open].find(({ ids }) => this.#known !== undefined || ids.length > 1);
  }

  of(call: Call): Call {
    this.#place = (this.#place + 0.5 + this.#random() / 100) % 1;
    return this.#controlOf(call, this.#known ?? this.#place);
  }
}

const calls = 3;
const keptAnswers = 16;

/** Foreign answers that several calls got: pure. Three calls for other ids do not get the same records by chance. */
class SharedAnswers {
  /** First ids of the calls, by the first id that their answers showed. */
  readonly #got = new Map<string, Set<string>>();

  /** @param shows the first id of a foreign answer @param first that of its call */
  isOfCache(shows: string, first: string | undefined): boolean {
    if (first === undefined) return false;
    const got = this.#got.get(shows) ?? new Set<string>();
    this.#got.delete(shows);
    this.#got.set(shows, got.add(first));
    for (const oldest of [...this.#got.keys()].slice(0, -keptAnswers)) this.#got.delete(oldest);
    return got.size >= calls;
  }
}

export interface JudgementPolicyOptions<Call> {
  /** Most calls in flight. */
  readonly concurrency: Concurrency;
  /** Calls in flight that an earlier run ended with. */
  readonly learnedCalls?: number | undefined;
  /** Probes after the first one that an outage gets. */
  readonly retries: number;
  readonly hasAnswered?: boolean | undefined;
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  readonly controlOf: ControlOf<Call>;
  /** What ends the client ends here, before any other call can leave. */
  readonly ended: Ended;
  readonly listener?: ClientListener | undefined;
  /** Called when all calls are held back for a longer time, with the milliseconds. */
  readonly onHold?: ((ms: number) => void) | undefined;
  /** What is sent, in words, for a service that refuses its form. */
  readonly sent?: string | undefined;
}

export interface JudgedAsker<Call> extends Asker<Call> {
  /** Whether a call that waited in its slot may still leave. False makes the policies inside fail it as `held`. */
  mayLeave(call: CallOutline): boolean;
  /** Takes an id of a call that an earlier run had an answer for: requested alone, it shows whether the service is up. */
  knows(id: string): void;
  /** Lets nothing more leave, and resolves when nothing is in flight. */
  close(): Promise<void>;
}

/** A hold from this length on is told to those who share the pace of the service. */
const leastToldMs = 1000;

type Outcome =
  | { readonly kind: 'answer'; readonly answer: AssetAnswer }
  | { readonly kind: 'again'; readonly waitMs: number };

/**
 * Obeys the judgement (`client/judgement`): lets calls leave when and in the number that it says, sends controls, repeats attempts
 * that brought nothing definite, and turns what it blames into a refusal, so that halving finds the id.
 */
export function withJudgement<Call extends CallOutline>(
  inner: Asker<Call>,
  options: JudgementPolicyOptions<Call>,
): JudgedAsker<Call> {
  return new Judged(inner, options);
}

class Judged<Call extends CallOutline> implements JudgedAsker<Call> {
  readonly #inner: Asker<Call>;
  readonly #options: JudgementPolicyOptions<Call>;
  readonly #judgement: Judgement;
  readonly #elapsed: Elapsed;
  readonly #report: ServiceReport;
  readonly #slots: Slots;
  readonly #controls: Controls<Call>;
  readonly #shared = new SharedAnswers();
  readonly #departures = new WeakMap<CallOutline, Departure>();
  /** Calls at once, as they were told last. */
  #calls = 0;
  #isControlQueued = false;
  #wake: AbortController | undefined;
  #over: Error | undefined;
  readonly #onStop = (): void => {
    this.#endAll(this.#options.ended.stop?.reason as Error);
  };

  constructor(inner: Asker<Call>, options: JudgementPolicyOptions<Call>) {
    const { clock, ended, listener, controlOf, random } = options;
    this.#inner = inner;
    this.#options = options;
    const silenceMs = options.hasAnswered === true ? undefined : firstContactMs;
    this.#judgement = new Judgement({ ...options, silenceMs });
    this.#elapsed = new Elapsed(clock);
    this.#report = new ServiceReport(this.#judgement, clock, this.#elapsed, listener);
    this.#slots = new Slots(clock);
    this.#controls = new Controls(controlOf, random);
    ended.stop?.addEventListener('abort', this.#onStop, { once: true });
  }

  async ask(call: Call): Promise<AssetAnswer> {
    this.#throwIfEnded();
    const isPiece = call.pieceOf?.isSuspected === true;
    const suspect = this.#judgement.suspect(call.ids.length, isPiece);
    this.#controls.opened(call);
    this.#report.opened(suspect);
    try {
      for (let priority: number = call.pieceOf === undefined ? priorities.fresh : priorities.again; ; ) {
        const outcome = await this.#slots.run(() => this.#attempt(call, suspect), priority);
        if (outcome.kind === 'answer') return outcome.answer;
        // An outage ends the wait, as its probes need calls.
        await this.#slots.nap(outcome.waitMs);
        this.#throwIfEnded();
        priority = priorities.again;
      }
    } finally {
      this.#controls.closed(call);
      this.#report.closed(suspect);
    }
  }

  mayLeave(call: CallOutline): boolean {
    const departure = this.#departures.get(call);
    return departure === undefined || this.#judgement.mayLeave(departure);
  }

  knows(id: string): void {
    this.#controls.knows(id);
    this.#judgement.wasAnswered();
  }

  async close(): Promise<void> {
    this.#endAll(new Error('the client is closed'));
    this.#options.ended.stop?.removeEventListener('abort', this.#onStop);
    await this.#slots.idle();
  }

  /** One attempt, in its slot. @param suspect undefined of a control */
  async #attempt(call: Call, suspect: Suspect | undefined): Promise<Outcome> {
    this.#throwIfEnded();
    const departure = this.#judgement.leaves(this.#elapsed.now(), this.#slots.taken);
    this.#departures.set(call, departure);
    if (this.#judgement.limit.gapMs > 0) this.#obey();
    try {
      return { kind: 'answer', answer: this.#answered(call, suspect, await this.#inner.ask(call)) };
    } catch (error) {
      if (error instanceof AttemptError) return this.#failed(call, suspect, departure, error);
      // Nobody asked for a control: what it meets (a full disk, credits that are spent) ends the calls that wait for it.
      if (suspect === undefined) this.#endAll(error as Error);
      throw error;
    } finally {
      this.#obey();
    }
  }

  #answered(call: Call, suspect: Suspect | undefined, answer: AssetAnswer): AssetAnswer {
    if (answer.kind === 'refused' && answer.why === 'size') {
      if (answer.unsent !== true) this.#judgement.refusedSize();
      return answer;
    }
    const isEmpty = answer.kind === 'records' && (answer.isEmpty ?? answer.records?.count === 0);
    const latencyMs = answer.kind === 'records' ? answer.latencyMs : undefined;
    this.#judgement.answered(suspect, this.#elapsed.now(), isEmpty, latencyMs);
    if (suspect !== undefined) this.#controls.answered(call);
    else if (answer.kind === 'records') answer.release?.();
    this.#report.answered();
    return answer;
  }

  #failed(call: Call, suspect: Suspect | undefined, departure: Departure, error: AttemptError): Outcome {
    if (error.failure === 'held') return { kind: 'again', waitMs: 0 };
    if (error.failure === 'untrusted') throw this.#end(untrusted(error));
    if (!isTrouble(error.failure)) throw error;
    if (error.shows !== undefined && this.#shared.isOfCache(error.shows, call.ids.first))
      throw this.#end(fromCache(error));
    const judgement = this.#judgement;
    if (judgement.isFirstContact && error.atFirst !== undefined) throw this.#end(error.atFirst);
    const holdBeforeMs = judgement.notBeforeMs;
    const nowMs = this.#elapsed.now();
    const backlog = { fresh: this.#slots.fresh, inFlight: this.#slots.taken - 1 };
    const { waitMs, unsent, why } = error;
    const silent = why === 'connection' || why === 'timeout';
    const failure = { trouble: error.failure, waitMs, unsent, silent, inWords: why === 'rpc' };
    const verdict = judgement.failed(suspect, failure, { nowMs, departure, backlog });
    const heldMs = judgement.notBeforeMs - nowMs;
    if (judgement.notBeforeMs > holdBeforeMs && heldMs >= leastToldMs) this.#tellHold(heldMs, error);
    this.#report.failed(error, call, suspect, verdict);
    if (verdict.kind === 'end')
      throw this.#end(unavailable(verdict.why, { ...this.#report.facts(), sent: this.#options.sent }, error));
    if (verdict.kind !== 'again') return { kind: 'answer', answer: refusal(error) };
    this.#options.listener?.({
      kind: 'retry',
      reason: error.message,
      why: error.why,
      waitMs: Math.round(Math.max(verdict.waitMs, heldMs, 0)),
      attempt: suspect?.failures ?? 1,
    });
    return verdict;
  }

  #tellHold(heldMs: number, { message: reason }: AttemptError): void {
    const { clock, listener, onHold } = this.#options;
    onHold?.(heldMs);
    const untilMs = clock.now() + Math.round(heldMs);
    listener?.({ kind: 'paused', untilMs, reason, concurrency: this.#judgement.limit.calls });
  }

  /** Brings the slots in line with the judgement. */
  #obey(): void {
    this.#wake?.abort();
    if (this.#over !== undefined) return;
    const untilMs = this.#judgement.notBeforeMs;
    // Timers know whole milliseconds: less than one would not move the clock.
    const waitMs = Math.ceil(untilMs - this.#elapsed.now());
    if (waitMs > 0) this.#pauseUntil(untilMs, waitMs);
    if (this.#judgement.isOutage) this.#slots.wakeAll();
    if (this.#judgement.wantsControl) this.#queueControl();
    this.#limit(this.#judgement.limit.calls);
    if (waitMs <= 0) this.#slots.start();
  }

  #limit(calls: number): void {
    this.#slots.limit(calls);
    const { concurrency, listener } = this.#options;
    if (concurrency !== 'auto' || calls === this.#calls || !this.#judgement.isOpen) return;
    this.#calls = calls;
    listener?.({ kind: 'limit', calls });
  }

  #pauseUntil(untilMs: number, waitMs: number): void {
    this.#slots.pause();
    this.#wake = new AbortController();
    this.#options.clock.sleep(waitMs, this.#wake.signal).then(
      () => {
        this.#elapsed.reach(untilMs);
        this.#obey();
      },
      () => undefined, // It was woken: somebody obeys again.
    );
  }

  /** A control goes first: what it brings decides what its call's failure means. */
  #queueControl(): void {
    const call = this.#controls.oldest();
    if (this.#isControlQueued || call === undefined) return;
    this.#isControlQueued = true;
    const control = this.#controls.of(call);
    const sent = this.#slots.run(async () => {
      this.#isControlQueued = false;
      if (!this.#controls.isOpen(call)) this.#obey();
      else if (this.#judgement.wantsControl) await this.#attempt(control, undefined);
    }, priorities.control);
    // What ends the client is told to its calls.
    sent.catch(() => {
      this.#isControlQueued = false;
    });
  }

  #throwIfEnded(): void {
    this.#options.ended.throwIfEnded();
    if (this.#over !== undefined) throw this.#over;
  }

  #end(error: ExportError): ExportError {
    this.#options.ended.end(error);
    this.#endAll(error);
    return error;
  }

  #endAll(reason: Error): void {
    this.#over ??= reason;
    this.#slots.end(reason);
    this.#wake?.abort();
  }
}

/** An id of the call is to blame, by the judgement, not by the service's words. */
function refusal({ message }: AttemptError): RefusedAnswer {
  return { kind: 'refused', why: 'id', message, doubtful: true };
}
