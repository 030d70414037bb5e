import PQueue from 'p-queue';
import type { Clock } from '../lib/clock.ts';
import { ExportError } from '../lib/export-error.ts';
import type { AssetAnswer, Asker } from './asset-client.ts';
import { AttemptError } from './attempt-error.ts';
import type { ClientListener } from './client-events.ts';
import { createSharedPause } from './shared-pause.ts';

export interface ConcurrencyOptions {
  /** Most calls at once. */
  readonly concurrency: number;
  /** Pauses in a row, without a call that gets through, after which the service counts as unavailable. */
  readonly maxPauses: number;
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

export interface ConcurrencyClient<Call> extends Asker<Call> {
  /** How many calls at once are allowed now. */
  limit(): number;
  /** True while all calls pause together. */
  isPaused(): boolean;
  /** Ends a pause and resolves when nothing is in flight. */
  close(): Promise<void>;
}

/**
 * At most so many calls at once. When the service says "too fast", all calls pause together (none holds a slot for it),
 * and half as many go on; after a run of successes one more is allowed again. A call that is `held` goes back to the queue.
 */
export function withConcurrency<Call>(inner: Asker<Call>, options: ConcurrencyOptions): ConcurrencyClient<Call> {
  const { stop, listener, maxPauses } = options;
  const queue = new PQueue({ concurrency: options.concurrency });
  const waiting = new Set<(reason: unknown) => void>();
  let successesInRow = 0;
  const pause = createSharedPause({
    ...options,
    onPause: () => {
      queue.concurrency = Math.max(1, Math.floor(queue.concurrency / 2));
      queue.pause();
    },
    onEnd: () => queue.start(),
  });

  const onStop = (): void => {
    for (const reject of waiting) reject(stop?.reason);
    waiting.clear();
    queue.clear();
  };
  stop?.addEventListener('abort', onStop, { once: true });

  function succeeded(): void {
    pause.succeeded();
    successesInRow += 1;
    if (queue.concurrency < options.concurrency && successesInRow >= 2 * queue.concurrency) {
      queue.concurrency += 1;
      successesInRow = 0;
    }
  }

  function throttled(error: AttemptError): void {
    successesInRow = 0;
    if (!pause.isOn() && pause.inRow() >= maxPauses) throw endlessThrottling(pause.inRow(), error);
    const untilMs = pause.begin(error.waitMs);
    if (untilMs === undefined) return;
    listener?.({ kind: 'paused', untilMs, reason: error.message, concurrency: queue.concurrency });
  }

  async function inSlot(call: Call): Promise<AssetAnswer> {
    try {
      const answer = await inner.ask(call);
      succeeded();
      return answer;
    } catch (error) {
      if (error instanceof AttemptError && error.failure === 'throttled') throttled(error);
      throw error;
    }
  }

  /** A higher priority goes first. */
  function inQueue(call: Call, priority: number): Promise<AssetAnswer> {
    return new Promise((resolve, reject) => {
      if (stop?.aborted === true) {
        reject(asError(stop.reason));
        return;
      }
      waiting.add(reject);
      const started = (): Promise<AssetAnswer> => {
        waiting.delete(reject);
        return inSlot(call);
      };
      queue.add(started, { priority }).then(resolve, reject);
    });
  }

  return {
    ask: async (call) => {
      for (let priority = 0; ; priority = 1) {
        try {
          return await inQueue(call, priority);
        } catch (error) {
          if (!(error instanceof AttemptError && error.failure === 'held')) throw error;
        }
      }
    },
    isPaused: () => pause.isOn(),
    limit: () => queue.concurrency,
    close: async () => {
      pause.end();
      stop?.removeEventListener('abort', onStop);
      await queue.onIdle();
    },
  };
}

function endlessThrottling(pauses: number, error: AttemptError): ExportError {
  const times = pauses === 1 ? 'after a pause' : `after ${pauses} pauses in a row`;
  return new ExportError('unavailable', `The service still says that calls come too fast ${times}: ${error.message}.`, {
    todo: 'Run the same command again later. Perhaps a limit of the key is spent for today, or other programs use it too; --credits-per-second sets a pace.',
    facts: { pauses, status: error.status ?? null },
    cause: error,
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('stopped', { cause: reason });
}
