import { setMaxListeners } from 'node:events';

/**
 * Ends work that is part of other work: aborted when `outer` is, or alone. `AbortSignal.any` does the same, but Node keeps its
 * signals, and all that listens to them, while `outer` lives: a worker that makes one slice after another would keep them all.
 */
export class LinkedAbort {
  readonly #outer: AbortSignal;
  readonly #reasonOf: (reason: unknown) => unknown;
  readonly #controller = new AbortController();
  readonly #onOuter = (): void => {
    this.#controller.abort(this.#reasonOf(this.#outer.reason));
  };

  /** @param reasonOf makes the reason of the work from that of `outer` */
  constructor(outer: AbortSignal, reasonOf = (reason: unknown): unknown => reason) {
    this.#outer = outer;
    this.#reasonOf = reasonOf;
    // Any number of works may be part of one: Node would warn of a leak at the eleventh.
    setMaxListeners(0, outer);
    if (outer.aborted) this.#onOuter();
    else outer.addEventListener('abort', this.#onOuter, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Ends the work, and lets go of `outer`. */
  abort(reason?: unknown): void {
    this.unlink();
    this.#controller.abort(reason);
  }

  /** Lets go of `outer` when the work is over. */
  unlink(): void {
    this.#outer.removeEventListener('abort', this.#onOuter);
  }
}

/**
 * Waits for some work, and no longer than until a signal. The work is not ended: whoever does it hears the signal too.
 * @throws the reason of the signal
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let end: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    end = () => {
      reject(signal.reason as Error);
    };
  });
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
