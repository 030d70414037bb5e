import type { Readable } from 'node:stream';
import { untilAborted } from '../../lib/end-work.ts';

/** How long the client of a store waits for an answer, or for the next block of one, in milliseconds. */
export const answerLimitMs = 60_000;

/** A put may take longer: the slowest upload that is waited for, in bytes a millisecond. */
const leastSpeed = 250;

/** How long a request that sends `bytes` may take, in milliseconds. */
export function putLimitMs(limitMs: number, bytes: number): number {
  return limitMs + Math.ceil(bytes / leastSpeed);
}

/** Rejects with the code `ETIMEDOUT` when an operation takes longer, with the reason of `ended` after that, and tells it to stop. */
export async function withinTime<T>(
  limitMs: number,
  operation: (stop: AbortSignal) => Promise<T>,
  ended?: AbortSignal,
): Promise<T> {
  ended?.throwIfAborted();
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(Object.assign(new Error(`no answer within ${limitMs} ms`), { code: 'ETIMEDOUT' }));
      stopping.abort();
    }, limitMs);
  });
  try {
    return await untilAborted(Promise.race([operation(stopping.signal), late]), ended);
  } finally {
    clearTimeout(timer);
    if (ended?.aborted === true) stopping.abort();
  }
}

/** The blocks of a stream. It fails, with the code `ETIMEDOUT`, when one takes longer than the limit. */
export async function* blocksInTime(limitMs: number, stream: Readable): AsyncGenerator<Uint8Array, void, void> {
  const blocks = stream[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const next = await withinTime(limitMs, () => blocks.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    stream.destroy();
  }
}
