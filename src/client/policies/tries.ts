import type { Clock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { CallOutline, RefusedAnswer } from '../asset-client.ts';
import type { AttemptError } from '../attempt-error.ts';
import { Blame, type ServiceState } from './blame.ts';
import type { ClientListener } from '../client-events.ts';

export interface TriesOptions {
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
/** As long as nothing was ever answered, so many attempts are enough: the service wants other parameters. */
const maxDoubtsAtFirst = 3;

/** The attempts of one call. */
export class Tries {
  readonly #call: CallOutline;
  readonly #service: ServiceState;
  readonly #options: TriesOptions;
  /** Attempts of this call, and how many of them failed or left doubt. */
  #attempts = 0;
  #failures = 0;
  #doubts = 0;
  readonly #blame: Blame;

  constructor(call: CallOutline, service: ServiceState, options: TriesOptions) {
    this.#call = call;
    this.#service = service;
    this.#options = options;
    this.#blame = new Blame(call, service, options.retries);
  }

  begin(): void {
    this.#attempts += 1;
    this.#blame.beginAttempt();
  }

  /** What follows from a failed attempt: a refusal of the call, or another attempt. @throws {ExportError} when it was the last */
  failed(error: AttemptError): RefusedAnswer | undefined {
    if (error.failure === 'untrusted') throw untrusted(error);
    if (error.failure === 'doubtful') return this.#doubted(error);
    // Being throttled while others get through is a matter of pace, and ends when they are done.
    if (error.failure === 'throttled' && this.#blame.areOthersAnswered()) return undefined;
    this.#failures += 1;
    this.#service.failuresUnanswered += 1;
    const verdict = error.failure === 'transient' ? this.#blame.verdict(error, this.#failures) : 'unclear';
    if (verdict === 'refused') return this.#refusal(error);
    if (verdict === 'unclear' && this.#isLast()) throw this.#unavailable(error);
    return undefined;
  }

  async wait(error: AttemptError): Promise<void> {
    const { clock, random, stop, listener } = this.#options;
    // Throttled calls wait together, in the layer that holds the slots.
    const ceilingMs = Math.min(capMs, baseMs * 2 ** (this.#failures + this.#doubts - 1));
    const waitMs = error.failure === 'throttled' ? 0 : Math.round(random() * ceilingMs);
    listener?.({ kind: 'retry', reason: error.message, why: error.why, waitMs, attempt: this.#attempts });
    if (waitMs > 0) await clock.sleep(waitMs, stop);
  }

  #isLast(): boolean {
    const { retries } = this.#options;
    // Pieces of a call that failed have its attempts behind them; but its other piece may be answered meanwhile.
    const isDown = this.#piece() !== undefined && this.#service.failuresUnanswered >= 2 * (retries + 1);
    return (isDown && this.#failures >= 2) || this.#failures > retries;
  }

  #doubted(error: AttemptError): RefusedAnswer | undefined {
    const { retries } = this.#options;
    const service = this.#service;
    this.#doubts += 1;
    const isOne = this.#call.ids.length === 1;
    if (service.answered === 0 && !error.patient) {
      service.doubtsAtFirst += 1;
      if (service.doubtsAtFirst >= maxDoubtsAtFirst) throw this.#brokenService(error, service.doubtsAtFirst);
      if (!isOne) return { ...this.#refusal(error), cutAt: 1 };
    }
    const ofPiece = this.#piece() !== undefined && !isOne ? 0 : doubtfulRetries;
    if (this.#doubts <= (error.patient ? retries : Math.min(ofPiece, retries))) return undefined;
    service.doubtfulInRow += 1;
    if (service.doubtfulInRow >= maxDoubtfulInRow) throw this.#brokenService(error, service.doubtfulInRow);
    return this.#refusal(error);
  }

  /** The larger call that failed, whose ids these are some of. */
  #piece() {
    return this.#call.pieceOf?.failed;
  }

  #refusal({ message }: AttemptError): RefusedAnswer {
    const failed = { attempts: this.#failures + (this.#piece()?.attempts ?? 0), answered: this.#service.answered };
    return { kind: 'refused', why: 'id', message, doubtful: true, failed };
  }

  #unavailable(error: AttemptError): ExportError {
    const attempts = this.#failures + (this.#piece()?.attempts ?? 0);
    this.#service.gaveUp = true;
    const times = attempts === 1 ? 'after one attempt' : `after ${attempts} attempts`;
    return new ExportError(
      'unavailable',
      `No answer to a call of ${this.#what()} ${times}; last error: ${error.message}.`,
      {
        todo: 'Run the same command again later.',
        facts: { attempts, ids: this.#call.ids.length, status: error.status ?? null },
        cause: error,
      },
    );
  }

  #brokenService(error: AttemptError, refusals: number): ExportError {
    this.#service.broken = new ExportError(
      'unavailable',
      `The service refused ${refusals} calls in a row for an unknown reason. The last was a call of ${this.#what()}: ${error.message}.`,
      {
        todo: `Check service.flags: the service may expect other parameters. Try one id: asset-export get ${this.#call.ids.first ?? ''}. Then run the same command again.`,
        facts: { attempts: this.#attempts, ids: this.#call.ids.length, status: error.status ?? null },
        cause: error,
      },
    );
    return this.#service.broken;
  }

  #what(): string {
    const { length, first = '' } = this.#call.ids;
    return length === 1 ? `the id ${first}` : `${length} ids (from ${first})`;
  }
}

function untrusted(error: AttemptError): ExportError {
  return new ExportError(
    'notTrusted',
    `The certificate of the service is not valid for its address: ${error.message}.`,
    {
      todo: 'Nothing was sent. Check service.url. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file. Then run the same command again.',
      cause: error,
    },
  );
}
