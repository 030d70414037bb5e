import PQueue from 'p-queue';
import type { Clock } from '../lib/clock.ts';
import type { AssetAnswer, AssetCall, AssetClient } from './asset-client.ts';
import { AttemptError } from './attempt-error.ts';
import type { ClientListener } from './client-events.ts';

export interface ConcurrencyOptions {
  /** Most calls at once. */
  readonly concurrency: number;
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

export interface ConcurrencyClient extends AssetClient {
  /** How many calls at once are allowed now. */
  limit(): number;
  /** Ends a pause and resolves when nothing is in flight. */
  close(): Promise<void>;
}

/** A pause is never shorter, or calls would storm; nor longer, as `Retry-After` may name a day. */
const floorMs = 1_000;
const capMs = 60_000;

/**
 * At most so many calls at once. When the service says "too fast", all calls pause together (none holds a slot for it),
 * and half as many go on; after a run of successes one more is allowed again.
 */
export function withConcurrency(inner: AssetClient, options: ConcurrencyOptions): ConcurrencyClient {
  const { stop, clock, random, listener } = options;
  const queue = new PQueue({ concurrency: options.concurrency });
  const waiting = new Set<(reason: unknown) => void>();
  const closed = new AbortController();
  let pausedUntilMs = 0;
  let pausesInRow = 0;
  let successesInRow = 0;

  const onStop = (): void => {
    for (const reject of waiting) reject(stop?.reason);
    waiting.clear();
    queue.clear();
  };
  stop?.addEventListener('abort', onStop, { once: true });

  function succeeded(): void {
    if (!queue.isPaused) pausesInRow = 0;
    successesInRow += 1;
    if (queue.concurrency < options.concurrency && successesInRow >= 2 * queue.concurrency) {
      queue.concurrency += 1;
      successesInRow = 0;
    }
  }

  function throttled(error: AttemptError): void {
    successesInRow = 0;
    const grownMs = floorMs + random() * Math.min(capMs, floorMs * 2 ** pausesInRow);
    const untilMs = clock.now() + Math.round(Math.min(capMs, Math.max(floorMs, error.waitMs ?? grownMs)));
    // Calls that were in flight when the pause began say nothing new, unless they ask for longer.
    if (queue.isPaused && (error.waitMs === undefined || untilMs <= pausedUntilMs)) return;
    if (!queue.isPaused) {
      pausesInRow += 1;
      queue.concurrency = Math.max(1, Math.floor(queue.concurrency / 2));
      queue.pause();
      pausedUntilMs = untilMs;
      void resume();
    }
    pausedUntilMs = untilMs;
    listener?.({ kind: 'paused', untilMs, reason: error.message, concurrency: queue.concurrency });
  }

  async function resume(): Promise<void> {
    try {
      while (clock.now() < pausedUntilMs) await clock.sleep(pausedUntilMs - clock.now(), closed.signal);
    } catch (error) {
      if (!closed.signal.aborted) throw error;
    }
    queue.start();
  }

  async function inSlot(call: AssetCall): Promise<AssetAnswer> {
    try {
      const answer = await inner.ask(call);
      succeeded();
      return answer;
    } catch (error) {
      if (error instanceof AttemptError && error.failure === 'throttled') throttled(error);
      throw error;
    }
  }

  return {
    ask: (call) =>
      new Promise((resolve, reject) => {
        if (stop?.aborted === true) {
          reject(asError(stop.reason));
          return;
        }
        waiting.add(reject);
        const started = (): Promise<AssetAnswer> => {
          waiting.delete(reject);
          return inSlot(call);
        };
        queue.add(started).then(resolve, reject);
      }),
    limit: () => queue.concurrency,
    close: async () => {
      closed.abort();
      stop?.removeEventListener('abort', onStop);
      await queue.onIdle();
    },
  };
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('stopped', { cause: reason });
}
