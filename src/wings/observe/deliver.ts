import type { Clock } from '../../lib/clock.ts';
import { codeOf } from '../../lib/export-error.ts';
import { LastSecond } from '../../lib/end-work.ts';
import type { RunListener } from '../../core/work/run-events.ts';

/** Time limit of an attempt, and how many follow the first. */
const timeoutMs = 5000;
const moreAttempts = 2;
const pauseMs = 500;

/** Time limit of the attempts that are left when the time of grace is over, one a message. */
const lastMs = 500;

export interface Message {
  readonly url: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DeliveryOptions {
  /** What is delivered, for the warning: the address is a secret. */
  readonly what: string;
  readonly clock: Clock;
  /** Aborted when the time of grace of the process is over. */
  readonly abort?: AbortSignal | undefined;
  readonly listener: RunListener;
  readonly fetch?: typeof fetch;
}

/** Sends messages to one receiver in their order. It fails nothing: of all that cannot be delivered there is one warning. */
export class Delivery {
  readonly #options: DeliveryOptions;
  #queue: Promise<unknown> = Promise.resolve();
  readonly #ending = new AbortController();
  #hasWarned = false;

  constructor(options: DeliveryOptions) {
    this.#options = options;
  }

  /** Has a message sent after those before it, while the run goes on. Resolves to whether it arrived. */
  send(message: Message): Promise<boolean> {
    const sent = this.#queue.then(() => this.#deliver(message, this.#ending.signal));
    this.#queue = sent;
    return sent;
  }

  /** Sends the last message, and resolves to whether it arrived, or was given up. An earlier one gets no further attempts. */
  async sendLast(message: Message): Promise<boolean> {
    this.#ending.abort();
    await this.#queue;
    return this.#deliver(message, undefined);
  }

  /** Resolves when nothing is under way. */
  async settled(): Promise<boolean> {
    this.#ending.abort();
    await this.#queue;
    return false;
  }

  async #deliver(message: Message, ending: AbortSignal | undefined): Promise<boolean> {
    const { what, listener } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      const failure = await this.#attempt(message);
      if (failure === undefined) return true;
      const isLast = attempt === moreAttempts || ending?.aborted === true;
      if (!isLast && (await this.#pause(pauseMs * 2 ** attempt))) continue;
      if (!this.#hasWarned) listener({ kind: 'warning', message: `${what} could not be delivered: ${failure}` });
      this.#hasWarned = true;
      return false;
    }
  }

  /** False when nothing may follow it. */
  async #pause(ms: number): Promise<boolean> {
    const { clock, abort } = this.#options;
    await clock.sleep(ms, abort).catch(() => undefined);
    return abort?.aborted !== true;
  }

  /** Resolves to why it failed, without the address. */
  async #attempt({ url, body, headers = {} }: Message): Promise<string | undefined> {
    const { clock, abort, fetch: fetchNow = fetch } = this.#options;
    const late = new AbortController();
    const isLate = (): void => {
      late.abort();
    };
    const done = new AbortController();
    // The answer may come first.
    clock.sleep(timeoutMs, done.signal).then(isLate, () => undefined);
    const last = new LastSecond(abort, lastMs);
    last.signal.addEventListener('abort', isLate);
    try {
      const answer = await fetchNow(url, {
        method: 'POST',
        body,
        signal: late.signal,
        redirect: 'error',
        headers: { 'content-type': 'application/json', ...headers },
      });
      await answer.body?.cancel();
      return answer.ok ? undefined : `HTTP ${answer.status}`;
    } catch (error) {
      if (late.signal.aborted) return `no answer within ${(last.signal.aborted ? lastMs : timeoutMs) / 1000} s`;
      // The message of the error holds the address.
      const code = error instanceof Error ? (codeOf(error.cause) ?? codeOf(error)) : undefined;
      return `connection failed${code === undefined ? '' : ` (${code})`}`;
    } finally {
      done.abort();
      last.unlink();
    }
  }
}
