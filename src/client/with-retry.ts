import type { Clock } from '../lib/clock.ts';
import { ExportError } from '../lib/export-error.ts';
import type { Asker, CallOutline } from './asset-client.ts';
import { AttemptError } from './attempt-error.ts';
import type { ClientListener } from './client-events.ts';

export interface RetryOptions {
  /** Attempts after the first. */
  readonly retries: number;
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

/** Backoff with full jitter: anywhere from 0 to base·2^n, at most the cap, so that calls that failed together part. */
const baseMs = 500;
const capMs = 30_000;

/** How often a doubtful error is tried again before it counts as a refusal of this very call. */
const doubtfulRetries = 2;

/** So many doubtful refusals in a row, with no success between, are the service's trouble and no id's. */
const maxDoubtfulInRow = 64;
/** As long as nothing ever succeeded, there is less reason to believe that an id is to blame. */
const maxDoubtfulAtFirst = 16;

/**
 * Repeats attempts that brought nothing definite.
 * A doubtful error that stays becomes a refusal, so that one bad id cannot block an export: halving will find it.
 */
export function withRetry<Call extends CallOutline>(inner: Asker<Call>, options: RetryOptions): Asker<Call> {
  const { stop } = options;
  const service = { successes: 0, doubtfulInRow: 0 };

  return {
    ask: async (call) => {
      const tries = new Tries(call, options);
      for (;;) {
        stop?.throwIfAborted();
        const successesBefore = service.successes;
        try {
          const answer = await inner.ask(call);
          if (answer.kind === 'records') {
            service.successes += 1;
            service.doubtfulInRow = 0;
          }
          return answer;
        } catch (error) {
          if (!(error instanceof AttemptError)) throw error;
          stop?.throwIfAborted();
          const given = tries.verdict(error, service.successes > successesBefore);
          if (given === 'refused') {
            service.doubtfulInRow += 1;
            const most = service.successes === 0 ? maxDoubtfulAtFirst : maxDoubtfulInRow;
            if (service.doubtfulInRow >= most) throw tries.brokenService(error, service.doubtfulInRow);
            return { kind: 'refused', why: 'id', message: error.message, doubtful: true };
          }
          if (given === 'unavailable') throw tries.unavailable(error);
          await tries.wait(error);
        }
      }
    },
  };
}

/** The attempts of one call. */
class Tries {
  readonly #call: CallOutline;
  readonly #options: RetryOptions;
  #attempts = 0;
  #failures = 0;
  #doubts = 0;

  constructor(call: CallOutline, options: RetryOptions) {
    this.#call = call;
    this.#options = options;
  }

  verdict(error: AttemptError, othersGotThrough: boolean): 'again' | 'refused' | 'unavailable' {
    const { retries } = this.#options;
    this.#attempts += 1;
    if (error.failure === 'doubtful') {
      this.#doubts += 1;
      const allowed = error.patient ? retries : Math.min(doubtfulRetries, retries);
      return this.#doubts > allowed ? 'refused' : 'again';
    }
    // Being throttled while others get through is a matter of pace, and ends when they are done.
    if (error.failure === 'throttled' && othersGotThrough) return 'again';
    this.#failures += 1;
    return this.#failures > retries ? 'unavailable' : 'again';
  }

  async wait(error: AttemptError): Promise<void> {
    const { clock, random, stop, listener } = this.#options;
    // Throttled calls wait together, in the layer that holds the slots.
    const ceilingMs = Math.min(capMs, baseMs * 2 ** (this.#failures + this.#doubts - 1));
    const waitMs = error.failure === 'throttled' ? 0 : Math.round(random() * ceilingMs);
    listener?.({ kind: 'retry', reason: error.message, waitMs, attempt: this.#attempts });
    if (waitMs > 0) await clock.sleep(waitMs, stop);
  }

  unavailable(error: AttemptError): ExportError {
    const times = this.#attempts === 1 ? 'after one attempt' : `after ${this.#attempts} attempts`;
    return new ExportError(
      'unavailable',
      `No answer to a call of ${this.#what()} ${times}; the last time: ${error.message}.`,
      {
        todo: 'Run the same command again later.',
        facts: { attempts: this.#attempts, ids: this.#call.ids.length, status: error.status ?? null },
        cause: error,
      },
    );
  }

  brokenService(error: AttemptError, refusals: number): ExportError {
    return new ExportError(
      'unavailable',
      `The service refused ${refusals} calls in a row for no reason that is known; the last time, a call of ${this.#what()}: ${error.message}.`,
      {
        todo: `Run the same command again later. If this stays, the service may want other parameters, or refuse these very ids: try one (asset-export get ${this.#call.ids.first ?? ''}), and export the ids without them to another folder.`,
        facts: { attempts: this.#attempts, ids: this.#call.ids.length, status: error.status ?? null },
        cause: error,
      },
    );
  }

  #what(): string {
    const { length, first = '' } = this.#call.ids;
    return length === 1 ? `the id ${first}` : `${length} ids (from ${first})`;
  }
}
