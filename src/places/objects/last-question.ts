import { setMaxListeners } from 'node:events';
import { untilAborted } from '../../lib/abort.ts';
import { withinTime } from './time-limit.ts';

/** How long a store may take to answer the last question, in milliseconds. */
const answerMs = 1000;

export interface Question {
  /** A small request. */
  ask(stop: AbortSignal): Promise<unknown>;
  /** Whether its error shows that the store works, as a refusal does. */
  isAnswer(error: unknown): boolean;
}

/**
 * Ends the wait for a store when the process is told to end and its time of grace is over. A store that is in use then is asked a
 * question. One that answers takes what is under way and what is to be kept for other processes, however long that takes.
 * One that does not answer is given up, with all that waits for it.
 */
export class LastQuestion {
  readonly #abort: AbortSignal | undefined;
  readonly #question: Question;
  readonly #gone = new AbortController();
  #isAsked = false;

  constructor(abort: AbortSignal | undefined, question: Question) {
    this.#abort = abort;
    this.#question = question;
    // Several requests run at once.
    for (const signal of [abort, this.#gone.signal]) if (signal !== undefined) setMaxListeners(0, signal);
  }

  /** Runs work that uses the store. `gone` is aborted, with the reason of `abort`, where the store is given up. */
  async during<T>(work: (gone: AbortSignal) => Promise<T>): Promise<T> {
    const abort = this.#abort;
    if (abort === undefined) return work(this.#gone.signal);
    const ask = (): void => {
      void this.#askOnce(abort);
    };
    if (abort.aborted) ask();
    else abort.addEventListener('abort', ask, { once: true });
    try {
      return await work(this.#gone.signal);
    } finally {
      abort.removeEventListener('abort', ask);
    }
  }

  /** The blocks of an answer, as long as the store is not given up. */
  async *blocks(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    const iterator = blocks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.during((gone) => untilAborted(iterator.next(), gone));
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // It may wait for a block that never comes.
      iterator.return?.().catch(() => undefined);
    }
  }

  async #askOnce(abort: AbortSignal): Promise<void> {
    if (this.#isAsked) return;
    this.#isAsked = true;
    try {
      await withinTime(answerMs, (stop) => this.#question.ask(stop));
    } catch (error) {
      if (!this.#question.isAnswer(error)) this.#gone.abort(abort.reason);
    }
  }
}
