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

export interface WorkToCleanUp<T> {
  readonly work: () => Promise<T>;
  /** True for a result that reports a failure. */
  readonly hasFailed?: (result: T) => boolean;
  /** Each step runs, whatever the others do. `result` is undefined when the work threw. */
  readonly cleanUp: readonly ((result: T | undefined) => Promise<void>)[];
}

/**
 * Runs some work, then cleans up behind it. The first cause wins: an error of a step is thrown only where the work and the
 * steps before it went well.
 */
export async function thenCleanUp<T>({ work, hasFailed, cleanUp }: WorkToCleanUp<T>): Promise<T> {
  const [done] = await Promise.allSettled([work()]);
  const result = done.status === 'fulfilled' ? done.value : undefined;
  const failures: unknown[] = [];
  for (const step of cleanUp) {
    try {
      await step(result);
    } catch (error) {
      failures.push(error);
    }
  }
  if (done.status === 'rejected') throw done.reason;
  if (failures.length > 0 && hasFailed?.(done.value) !== true) throw failures[0];
  return done.value;
}

/** Things that were opened, to be closed together. */
export class ClosingStack {
  readonly #open: { close(): Promise<void> }[] = [];

  add<T extends { close(): Promise<void> }>(opened: T): T {
    this.#open.push(opened);
    return opened;
  }

  async close(): Promise<void> {
    const ended = await Promise.allSettled(this.#open.splice(0).map((each) => each.close()));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  }
}
