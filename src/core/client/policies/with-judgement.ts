import PQueue from 'p-queue';
import type { Clock } from '../../../lib/clock.ts';
import type { ExportError } from '../../../lib/export-error.ts';
import type { AssetAnswer, Asker, CallOutline, RefusedAnswer } from '../asset-client.ts';
import { AttemptError, isTrouble } from '../attempt-error.ts';
import type { ClientListener } from '../client-events.ts';
import type { Departure } from '../judgement/evidence.ts';
import { Judgement } from '../judgement/judgement.ts';
import type { Suspect } from '../judgement/suspicion.ts';
import { Elapsed } from './elapsed.ts';
import type { Ended } from './ended.ts';
import { ServiceReport } from './service-report.ts';
import { unavailable, untrusted } from './unavailable-error.ts';

export interface JudgementPolicyOptions<Call> {
  /** Most calls in flight. */
  readonly concurrency: number;
  /** Probes after the first one that an outage gets. */
  readonly retries: number;
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  /** A call for one id alone, by which the state of the service shows: an id, or where it stands in the call, from 0 up to 1. */
  readonly controlOf: (call: Call, id: string | number) => Call;
  /** What ends the client ends here, before any other call can leave. */
  readonly ended: Ended;
  readonly listener?: ClientListener | undefined;
  /** Called when all calls are held back for a longer time, with the milliseconds. */
  readonly onHold?: ((ms: number) => void) | undefined;
}

export interface JudgedAsker<Call> extends Asker<Call> {
  /** Whether a call that waited in its slot may still leave. False makes the policies inside fail it as `held`. */
  mayLeave(call: CallOutline): boolean;
  /** Lets nothing more leave, and resolves when nothing is in flight. */
  close(): Promise<void>;
}

/** Of tasks in the queue: a call that was never sent, one that was or is a piece of one, and a control. */
const priorities = { fresh: 0, again: 1, control: 2 } as const;

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
  const { clock, ended, listener, controlOf, random } = options;
  const { stop } = ended;
  const judgement = new Judgement(options);
  const elapsed = new Elapsed(clock);
  const report = new ServiceReport(judgement, clock, elapsed, listener);
  const queue = new PQueue({ concurrency: 1 });
  const departures = new WeakMap<CallOutline, Departure>();
  /** Calls without a definite answer, the oldest first. */
  const open = new Set<Call>();
  /** What waits for a slot, or for its next attempt. */
  const waiting = new Set<(reason: unknown) => void>();
  const naps = new Set<() => void>();
  /** An id that this client has had an answer for. */
  let known: string | undefined;
  /** Where the last control stood in its call: the next one is another id. */
  let place = random();
  let isControlQueued = false;
  let wake: AbortController | undefined;
  let over: Error | undefined;

  function endAll(reason: Error): void {
    over ??= reason;
    for (const reject of waiting) reject(reason);
    waiting.clear();
    queue.clear();
    wake?.abort();
  }
  const onStop = (): void => {
    endAll(stop?.reason as Error);
  };
  stop?.addEventListener('abort', onStop, { once: true });

  function throwIfEnded(): void {
    ended.throwIfEnded();
    if (over !== undefined) throw over;
  }

  /** Brings the queue in line with the judgement. */
  function obey(): void {
    wake?.abort();
    if (over !== undefined) return;
    const untilMs = judgement.notBeforeMs;
    const waitMs = untilMs - elapsed.now();
    if (waitMs > 0) {
      queue.pause();
      wake = new AbortController();
      clock.sleep(waitMs, wake.signal).then(
        () => {
          elapsed.reach(untilMs);
          obey();
        },
        () => undefined, // It was woken: somebody obeys again.
      );
    }
    if (judgement.isOutage) for (const end of naps) end();
    if (judgement.wantsControl) queueControl();
    queue.concurrency = judgement.limit.calls;
    if (waitMs <= 0) queue.start();
  }

  /** A control goes first: what it brings decides what its call's failure means. A call of one id is its own control. */
  function queueControl(): void {
    const call = [...open].find(({ ids }) => known !== undefined || ids.length > 1);
    if (isControlQueued || call === undefined) return;
    isControlQueued = true;
    place = (place + 0.5 + random() / 100) % 1;
    const control = controlOf(call, known ?? place);
    const sent = inQueue(async () => {
      isControlQueued = false;
      if (!open.has(call)) obey();
      else if (judgement.wantsControl) await attempt(control, undefined);
    }, priorities.control);
    // What ends the client is told to its calls.
    sent.catch(() => {
      isControlQueued = false;
    });
  }

  function inQueue<T>(task: () => Promise<T>, priority: number): Promise<T> {
    return new Promise((resolve, reject) => {
      waiting.add(reject);
      const started = (): Promise<T> => {
        waiting.delete(reject);
        return task();
      };
      queue.add(started, { priority }).then(resolve, reject);
    });
  }

  /** One attempt, in its slot. @param suspect undefined of a control */
  async function attempt(call: Call, suspect: Suspect | undefined): Promise<Outcome> {
    throwIfEnded();
    const departure = judgement.leaves(elapsed.now(), queue.pending);
    departures.set(call, departure);
    if (judgement.limit.gapMs > 0) obey();
    try {
      return { kind: 'answer', answer: answered(call, suspect, await inner.ask(call)) };
    } catch (error) {
      if (!(error instanceof AttemptError)) {
        // Nobody asked for a control: what it meets (a full disk, credits that are spent) ends the calls that wait for it.
        if (suspect === undefined) endAll(error as Error);
        throw error;
      }
      return failed(call, { suspect, departure, error });
    } finally {
      obey();
    }
  }

  function answered(call: Call, suspect: Suspect | undefined, answer: AssetAnswer): AssetAnswer {
    if (answer.kind === 'refused' && answer.why === 'size') {
      if (answer.unsent !== true) judgement.refusedSize();
      return answer;
    }
    judgement.answered(suspect, elapsed.now());
    if (suspect !== undefined) known = call.ids.first ?? known;
    else if (answer.kind === 'records') answer.release?.();
    report.answered();
    return answer;
  }

  function failed(call: Call, { suspect, departure, error }: FailedInSlot): Outcome {
    if (error.failure === 'held') return { kind: 'again', waitMs: 0 };
    if (error.failure === 'untrusted') throw end(untrusted(error));
    if (!isTrouble(error.failure)) throw error;
    if (judgement.isFirstContact && error.atFirst !== undefined) throw end(error.atFirst);
    const holdBeforeMs = judgement.notBeforeMs;
    const nowMs = elapsed.now();
    const backlog = { fresh: queue.sizeBy({ priority: priorities.fresh }), inFlight: queue.pending - 1 };
    const failure = { trouble: error.failure, waitMs: error.waitMs, unsent: error.unsent };
    const verdict = judgement.failed(suspect, failure, { nowMs, departure, backlog });
    const heldMs = judgement.notBeforeMs - nowMs;
    if (judgement.notBeforeMs > holdBeforeMs && heldMs >= leastToldMs) told(heldMs, error);
    report.failed(error, call, suspect, verdict);
    switch (verdict.kind) {
      case 'end':
        throw end(unavailable(verdict.why, report.facts(), error));
      case 'again':
        listener?.({
          kind: 'retry',
          reason: error.message,
          why: error.why,
          waitMs: Math.round(Math.max(verdict.waitMs, heldMs, 0)),
          attempt: suspect?.failures ?? 1,
        });
        return verdict;
      default:
        return { kind: 'answer', answer: refusal(error) };
    }
  }

  function told(heldMs: number, { message: reason }: AttemptError): void {
    options.onHold?.(heldMs);
    const untilMs = clock.now() + Math.round(heldMs);
    listener?.({ kind: 'paused', untilMs, reason, concurrency: judgement.limit.calls });
  }

  function end(error: ExportError): ExportError {
    ended.end(error);
    endAll(error);
    return error;
  }

  /** Waits for the next attempt; an outage ends it, as its probes need calls. */
  async function nap(ms: number): Promise<void> {
    if (ms <= 0) return;
    const over = new AbortController();
    const end = (): void => {
      over.abort();
    };
    naps.add(end);
    waiting.add(end);
    await clock.sleep(ms, over.signal).catch(() => undefined);
    naps.delete(end);
    waiting.delete(end);
  }

  return {
    ask: async (call) => {
      throwIfEnded();
      const isPiece = call.pieceOf?.isSuspected === true;
      const suspect = judgement.suspect(call.ids.length, isPiece);
      open.add(call);
      report.opened(suspect);
      try {
        for (let priority: number = call.pieceOf === undefined ? priorities.fresh : priorities.again; ; ) {
          const outcome = await inQueue(() => attempt(call, suspect), priority);
          if (outcome.kind === 'answer') return outcome.answer;
          await nap(outcome.waitMs);
          throwIfEnded();
          priority = priorities.again;
        }
      } finally {
        open.delete(call);
        report.closed(suspect);
      }
    },
    mayLeave: (call) => {
      const departure = departures.get(call);
      return departure === undefined || judgement.mayLeave(departure);
    },
    close: async () => {
      endAll(new Error('the client is closed'));
      stop?.removeEventListener('abort', onStop);
      queue.start();
      await queue.onIdle();
    },
  };
}

/** @property suspect undefined of a control */
interface FailedInSlot {
  readonly suspect: Suspect | undefined;
  readonly departure: Departure;
  readonly error: AttemptError;
}

/** An id of the call is to blame, by the judgement, not by the service's words. */
function refusal({ message }: AttemptError): RefusedAnswer {
  return { kind: 'refused', why: 'id', message, doubtful: true };
}
