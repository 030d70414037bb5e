import PQueue from 'p-queue';
import type { Clock } from '../../../lib/clock.ts';

/** Of tasks in the queue: a call that was never sent, one that was or is a piece of one, and a control. */
export const priorities = { fresh: 0, again: 1, control: 2 } as const;

/** Runs tasks, so many at once. What waits, for a slot or for its next attempt, can be ended together. */
export class Slots {
  readonly #clock: Clock;
  readonly #queue = new PQueue({ concurrency: 1 });
  readonly #waiting = new Set<(reason: unknown) => void>();
  readonly #naps = new Set<() => void>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Tasks that run now. */
  get taken(): number {
    return this.#queue.pending;
  }

  /** Calls in the queue that were never sent. */
  get fresh(): number {
    return this.#queue.sizeBy({ priority: priorities.fresh });
  }

  /** Most tasks at once. */
  limit(tasks: number): void {
    this.#queue.concurrency = tasks;
  }

  /** No task begins. */
  pause(): void {
    this.#queue.pause();
  }

  start(): void {
    this.#queue.start();
  }

  /** @throws what ended the tasks that wait, if it did before this one began */
  run<T>(task: () => Promise<T>, priority: number): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#waiting.add(reject);
      const started = (): Promise<T> => {
        this.#waiting.delete(reject);
        return task();
      };
      this.#queue.add(started, { priority }).then(resolve, reject);
    });
  }

  /** Waits without a slot, until it is woken. */
  async nap(ms: number): Promise<void> {
    if (ms <= 0) return;
    const over = new AbortController();
    const end = (): void => {
      over.abort();
    };
    this.#naps.add(end);
    this.#waiting.add(end);
    await this.#clock.sleep(ms, over.signal).catch(() => undefined);
    this.#naps.delete(end);
    this.#waiting.delete(end);
  }

  wakeAll(): void {
    for (const end of this.#naps) end();
  }

  /** Ends all that waits. */
  end(reason: Error): void {
    for (const end of this.#waiting) end(reason);
    this.#waiting.clear();
    this.#queue.clear();
  }

  /** Resolves when no task runs. */
  async idle(): Promise<void> {
    this.start();
    await this.#queue.onIdle();
  }
}
