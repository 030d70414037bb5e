import PQueue from 'p-queue';
import type { Clock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { AssetAnswer, Asker } from '../asset-client.ts';
import { AttemptError } from '../attempt-error.ts';
import type { ClientListener } from '../client-events.ts';
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
  /** Called when all calls begin to pause, with the milliseconds. */
  readonly onPause?: ((ms: number) => void) | undefined;
}

export interface ConcurrencyClient<Call> extends Asker<Call> {
  /** How many calls at once are allowed now. */
  limit(): number;
  /** True while all calls pause together. */
  isPaused(): boolean;
  /** Ends a pause and resolves when nothing is in flight. */
  close(): Promise<void>;
}

/** Successes after which one more call than the service refused last is tried again: twice as many each time, up to the most. */
const leastPatience = 16;
const mostPatience = 1024;

/**
 * At most so many calls at once. When the service says "too fast", all calls pause together (none holds a slot for it),
 * and half as many go on; half as many too when it refuses or resets connections. After a run of successes one more is
 * allowed again. A call that is `held` goes back to the queue.
 */
export function withConcurrency<Call>(inner: Asker<Call>, options: ConcurrencyOptions): ConcurrencyClient<Call> {
  const { stop, listener, maxPauses } = options;
  const queue = new PQueue({ concurrency: options.concurrency });
  const waiting = new Set<(reason: unknown) => void>();
  let successesInRow = 0;
  /** So many calls at once were too many; and how long to wait before that is tried again. */
  let ceiling = Number.POSITIVE_INFINITY;
  let patience = leastPatience;
  /** How often the limit was lowered: calls that left before say nothing new of it. */
  let cuts = 0;
  const { clock, random } = options;
  const pause = createSharedPause({
    ...{ clock, random },
    onPause: () => {
      queue.concurrency = halfOf(queue.concurrency);
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
    const next = queue.concurrency + 1;
    if (next > options.concurrency || successesInRow < (next >= ceiling ? patience : 2 * queue.concurrency)) return;
    queue.concurrency = next;
    successesInRow = 0;
    if (next === options.concurrency) listener?.({ kind: 'concurrency', calls: next });
  }

  /** Too many connections, perhaps: fewer calls at once, down to one. */
  function overloaded(error: AttemptError, left: Departure): void {
    const atOnce = Math.max(left.atOnce, queue.pending);
    if (atOnce === 1) return;
    error.crowded = true;
    successesInRow = 0;
    if (left.cuts < cuts) return;
    cuts += 1;
    patience = atOnce >= ceiling ? Math.min(mostPatience, 2 * patience) : leastPatience;
    ceiling = atOnce;
    queue.concurrency = Math.min(queue.concurrency, halfOf(atOnce));
    listener?.({ kind: 'concurrency', calls: queue.concurrency, reason: error.message });
  }

  function throttled(error: AttemptError): void {
    successesInRow = 0;
    if (!pause.isOn() && pause.inRow() >= maxPauses) throw endlessThrottling(pause.inRow(), error);
    const untilMs = pause.begin(error.waitMs);
    if (untilMs === undefined) return;
    options.onPause?.(untilMs - clock.now());
    listener?.({ kind: 'paused', untilMs, reason: error.message, concurrency: queue.concurrency });
  }

  async function inSlot(call: Call): Promise<AssetAnswer> {
    const left = { atOnce: queue.pending, cuts };
    try {
      const answer = await inner.ask(call);
      succeeded();
      return answer;
    } catch (error) {
      if (error instanceof AttemptError && error.failure === 'throttled') throttled(error);
      if (error instanceof AttemptError && error.overload) overloaded(error, left);
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

/** How a call left. */
interface Departure {
  /** Calls in flight when it left, this one included. */
  readonly atOnce: number;
  /** How often the limit had been lowered by then. */
  readonly cuts: number;
}

function halfOf(calls: number): number {
  return Math.max(1, Math.floor(calls / 2));
}

function endlessThrottling(pauses: number, error: AttemptError): ExportError {
  const times = pauses === 1 ? 'after a pause' : `after ${pauses} pauses in a row`;
  return new ExportError('unavailable', `The service still rejects calls as too fast ${times}: ${error.message}.`, {
    todo: 'Run the same command again later. A limit of the key may be spent for today, or other programs may use the key. --credits-per-second sets a rate limit.',
    facts: { pauses, status: error.status ?? null },
    cause: error,
  });
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('stopped', { cause: reason });
}
