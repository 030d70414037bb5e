import type { Clock } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import {
  type Asker,
  type AssetAnswer,
  type CallOutline,
  AttemptError,
  statusOf,
  type ClientListener,
} from '../asset-client.ts';

/** Between two refusals that end a run, in milliseconds: those of one moment may come from one backend. */
const leastApartMs = 1000;

/**
 * Whether a refusal that would end the run (spent, key refused, certificate not valid) is believed: pure, without a clock. Once the
 * service has answered, one of several backends may say so alone: then it takes two refusals, a second apart, without an answer between.
 */
class Ends {
  #hasAnswered = false;
  #firstMs = 0;
  /** Since the last answer. */
  #refusals = 0;

  answered(): void {
    this.#hasAnswered = true;
    this.#refusals = 0;
  }

  /**
   * Whether a refusal ends the run; else for how many milliseconds its call waits before it leaves again. Calls that were refused
   * together wait one after another: what the first of them brings decides for all.
   */
  refused(nowMs: number): 'believed' | number {
    if (this.#refusals === 0) this.#firstMs = nowMs;
    if (!this.#hasAnswered || (this.#refusals > 0 && nowMs - this.#firstMs >= leastApartMs)) return 'believed';
    this.#refusals += 1;
    return this.#refusals * leastApartMs;
  }
}

/**
 * Sends a request once more, on a fresh connection, whose end says nothing of the service: at once where it was lost with a reused
 * connection, a second later where an answer would end the run that no other one confirms. The policies around hear only of the
 * second attempt. The budget hears of both: a request that was written may be charged.
 * A call sends itself, on a fresh connection where it is told so.
 * @param withPayment puts the budget around what sends
 */
export function withReuse<Call extends CallOutline & { readonly send: (fresh: boolean) => Promise<AssetAnswer> }>(
  withPayment: (sender: Asker<Call>) => Asker<Call>,
  {
    clock,
    stop,
    listener,
  }: { readonly clock: Clock; readonly stop?: AbortSignal | undefined; readonly listener?: ClientListener | undefined },
): Asker<Call> {
  const reuse = new Reuse();
  const ends = new Ends();
  const leavesFresh = new WeakSet<Call>();
  /** How long calls wait whose refusal is doubted, in milliseconds. A call that is refused again is in trouble. */
  const waits = new WeakMap<Call, number>();
  let hasTold = false;

  function settle(isLost: boolean): void {
    if (!reuse.ended(isLost) || hasTold) return;
    hasTold = true;
    const message = 'the service, or a balancer before it, ends used connections: each request has its own from now on';
    listener?.({ kind: 'warning', message });
  }

  /** The error as the policies around shall see it. */
  function weighed(call: Call, error: unknown): unknown {
    if (!isEnd(error)) return error;
    const wait = ends.refused(clock.now());
    if (wait === 'believed') return error;
    const lost = !waits.has(call);
    waits.set(call, wait);
    const { message, unsent } = error;
    return new AttemptError('transport', message, { status: statusOf(error), unsent, lost, cause: error });
  }

  const paid = withPayment({
    ask: async (call) => {
      const fresh = leavesFresh.delete(call) || reuse.takesFresh();
      try {
        const answer = await call.send(fresh);
        if (!fresh) settle(false);
        ends.answered();
        return answer;
      } catch (cause) {
        if (!fresh) settle(isLost(cause));
        const error = weighed(call, cause);
        if (isLost(error)) leavesFresh.add(call);
        throw error;
      }
    },
  });
  return {
    ask: (call) =>
      paid.ask(call).catch(async (error: unknown) => {
        if (!isLost(error)) throw error;
        await clock.sleep(waits.get(call) ?? 0, stop);
        return paid.ask(call);
      }),
  };
}

function isLost(error: unknown): boolean {
  return error instanceof AttemptError && error.lost;
}

/** Whether it ends the run. */
function isEnd(error: unknown): error is AttemptError | ExportError {
  if (error instanceof AttemptError) return error.failure === 'spent' || error.failure === 'untrusted';
  return error instanceof ExportError && error.exit === 'notTrusted';
}

/** So many lost requests, of the last ones that could reuse a connection, end the reuse. */
const mostLost = 3;
const lastRequests = 32;
/** So many requests use fresh connections before reuse is tried again: twice as many each time. */
const firstFresh = 256;
const mostFresh = 4096;

/**
 * Whether the other side keeps connections between requests: pure, without a clock and without a promise. A balancer may forget
 * connections that were used; the requests that it loses say nothing about the service or the ids.
 */
export class Reuse {
  /** Of the last requests that could reuse a connection, which were lost. */
  #last: boolean[] = [];
  #freshLeft = 0;
  #nextFresh = firstFresh;

  /** Whether the next request has to use a fresh connection. Counts it. */
  takesFresh(): boolean {
    if (this.#freshLeft === 0) return false;
    this.#freshLeft -= 1;
    return true;
  }

  /** A request that could reuse a connection ended. @returns whether further requests use fresh connections because of it */
  ended(isLost: boolean): boolean {
    // It left before the reuse ended.
    if (this.#freshLeft > 0) return false;
    this.#last = [...this.#last, isLost].slice(-lastRequests);
    if (this.#last.filter(Boolean).length < mostLost) return false;
    this.#last = [];
    this.#freshLeft = this.#nextFresh;
    this.#nextFresh = Math.min(mostFresh, 2 * this.#nextFresh);
    return true;
  }
}
