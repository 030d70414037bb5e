import type { Readable } from 'node:stream';
import { untilAborted } from '../../lib/end-work.ts';
import type { Clock } from '../../lib/clock.ts';
import { meaningOfStatus, firstContactMs, neverAnswered } from '../../lib/network.ts';
import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { duration } from '../../lib/format-text.ts';

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

/** What a failure of a store means. `passing` is retried; `unsupported` never passes; a sentence says why a retry does not help. */
export type StoreFault =
  | 'passing'
  | 'unsupported'
  | {
      readonly because: string;
      readonly todo: string;
      /** It may be gone at once, by what the client has learned. */
      readonly once?: true;
    };

export interface RetryContext {
  /** The address of the store, for messages. */
  readonly address: string;
  /** The address of an S3-compatible store. */
  readonly endpoint?: string | undefined;
  readonly clock: Clock;
  /** A number from 0 up to 1, as Math.random. */
  readonly random: () => number;
  /** Aborted: nothing is repeated any more, and a store that does not answer is given up. */
  readonly abort?: AbortSignal | undefined;
  /** How long a store may fail before it counts as unavailable, in milliseconds; 15 minutes unless given. */
  readonly patienceMs?: number | undefined;
  /** Takes a sentence when an operation has failed for some time and is still retried. */
  readonly onTrouble?: ((message: string) => void) | undefined;
}

/** Backoff with full jitter, and how long a store may fail before it counts as unavailable. In milliseconds. */
const baseMs = 200;
const capMs = 30_000;
const usualPatienceMs = 15 * 60_000;

/** The same where somebody waits to see whether the store answers at all. */
export const shortLimits = { patienceMs: 3000, limitMs: 10_000 } as const;

/** Failures are reported after so many milliseconds. */
const troubleMs = 10_000;

/** The buckets that answered in this process, a refusal included: of these an outage is waited for. */
const answered = new Set<string>();

/** A store that did not recover. @param error what it failed with last */
export function storeUnavailable(address: string, error: unknown): ExportError {
  return new ExportError('unavailable', `${address} did not recover: ${messageOf(error)}`, {
    todo: 'Run the same command again later: it resumes.',
    cause: error,
  });
}

export const chooseStore =
  'Choose a store that supports conditional writes: S3, Google Cloud Storage, Azure Blob Storage, Ceph, or a folder.';

/** @param what the store lacks */
function unsupported(address: string, what: string, cause: unknown): ExportError {
  return new ExportError('usage', `${address} does not support ${what} (${messageOf(cause)})`, {
    todo: chooseStore,
    cause,
  });
}

function storeUnreached({ address, endpoint }: RetryContext, error: unknown): ExportError {
  const [at, check] =
    endpoint === undefined
      ? ['', 'Check the address of the bucket, the network and its proxy.']
      : [` at ${endpoint}`, `Check --out-endpoint (output.endpoint) and the network.`];
  return neverAnswered(`${address}${at}`, error, check);
}

/** Repeats an operation while the store's failures pass. @throws {ExportError} `cannotWrite`, `unavailable`, `usage`; the reason of `abort` */
export async function withStoreRetries<T>(
  context: RetryContext,
  faultOf: (error: unknown) => StoreFault,
  operation: () => Promise<T>,
  needs = 'a request of this program',
): Promise<T> {
  const { address, endpoint, clock, random, abort, onTrouble, patienceMs = usualPatienceMs } = context;
  const bucket = `${endpoint ?? ''} ${address.split('/').slice(0, 3).join('/')}`;
  const beganMs = clock.monotonic();
  let isReported = false;
  let isRepeated = false;
  for (let attempt = 0; ; attempt += 1) {
    try {
      const result = await operation();
      answered.add(bucket);
      return result;
    } catch (error) {
      if (error instanceof ExportError || error === abort?.reason) throw error;
      const fault = faultOf(error);
      if (fault !== 'passing' || !isNetworkFailure(error)) answered.add(bucket);
      if (fault === 'unsupported') throw unsupported(address, needs, error);
      if (fault !== 'passing' && fault.once && !isRepeated) {
        isRepeated = true;
        continue;
      }
      if (fault !== 'passing') {
        throw new ExportError('cannotWrite', `${address}: ${fault.because}`, { todo: fault.todo, cause: error });
      }
      abort?.throwIfAborted();
      const waitMs = random() * Math.min(capMs, baseMs * 2 ** attempt);
      const isNew = !answered.has(bucket);
      if (clock.monotonic() + waitMs - beganMs > (isNew ? Math.min(firstContactMs, patienceMs) : patienceMs))
        throw isNew ? storeUnreached(context, error) : storeUnavailable(address, error);
      if (!isReported && clock.monotonic() - beganMs >= troubleMs) {
        isReported = true;
        onTrouble?.(
          `${address} does not recover (${messageOf(error)}): it is retried for up to ${duration(isNew ? firstContactMs : usualPatienceMs)}`,
        );
      }
      await clock.sleep(waitMs, abort);
    }
  }
}

const networkCodes = new Set([
  ...['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND'],
  ...['ENETUNREACH', 'EHOSTUNREACH', 'ERR_STREAM_PREMATURE_CLOSE'],
]);

/** True for a connection that failed or broke. */
export function isNetworkFailure(error: unknown): boolean {
  return networkCodes.has(codeOf(error) ?? '') || messageOf(error) === 'aborted';
}

/** True for the HTTP statuses that a later attempt may not meet, and for an answer of success that cannot be read. */
export function isPassingStatus(status: number | undefined): boolean {
  return status !== undefined && ['busy', 'pace', 'done'].includes(meaningOfStatus(status));
}

/** Credentials that are absent, expired or wrong, in the words of the client. */
export function noCredentials(says: string): StoreFault {
  return { because: `no valid credentials (${says})`, todo: 'Renew the credentials, then run the same command again.' };
}

/** A client that was told of no region asks nothing. */
export const noRegion: StoreFault = {
  because: 'no region of the bucket is named',
  todo: 'Set AWS_REGION to the region of the bucket (any name for another store than S3), then run the same command again.',
};

export const noBucket: StoreFault = {
  because: 'the bucket does not exist',
  todo: 'Create it, or fix the address.',
};

/** A request that the store refused for good, with the HTTP status and the words of its answer. */
export function refused(status: number | undefined, says: string): StoreFault {
  const again = 'then run the same command again.';
  const meaning = meaningOfStatus(status ?? 0);
  if (meaning === 'unsupported') return meaning;
  if (meaning === 'denied') {
    const todo = `Allow Get, Put and List on the prefix (Delete is wanted), ${again}`;
    return { because: `access is denied (${says})`, todo };
  }
  return { because: `the store refused a request (${says})`, todo: `Fix the cause, ${again}` };
}
