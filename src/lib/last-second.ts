import { setMaxListeners } from 'node:events';

/** For what is small: a statement, a message. In milliseconds. */
const usualMs = 1000;

/** What is under way, or begins, when the time of grace of a process is over may take this much longer; then it is given up. */
export class LastSecond {
  readonly #abort: AbortSignal | undefined;
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  readonly #onAbort: () => void;

  /** @param abort aborted when the time of grace is over; absent: there is none */
  constructor(abort: AbortSignal | undefined, ms = usualMs) {
    this.#abort = abort;
    this.#onAbort = () => {
      this.#timer = setTimeout(() => {
        this.#over.abort(abort?.reason);
      }, ms);
    };
    // Whatever waits listens.
    setMaxListeners(0, this.#over.signal);
    if (abort?.aborted === true) this.#onAbort();
    else abort?.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Aborted at its end, with the reason of `abort`. */
  get signal(): AbortSignal {
    return this.#over.signal;
  }

  /** Lets go of `abort` when nothing waits any more. */
  unlink(): void {
    clearTimeout(this.#timer);
    this.#abort?.removeEventListener('abort', this.#onAbort);
  }
}
