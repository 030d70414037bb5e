import { finished } from 'node:stream/promises';
import { createReadStream, type ReadStream } from 'node:fs';
import {
  absentObject,
  type ByteRange,
  changedObject,
  type ObjectBody,
  type ObjectLook,
  type ObjectStore,
  requirePuttable,
  sizeOfBody,
} from './object-store.ts';
import { LastQuestion } from './last-question.ts';
import { type RetryContext, type StoreFault, storeUnavailable, withStoreRetries } from './store-retries.ts';
import { answerLimitMs, putLimitMs, withinTime } from './time-limit.ts';

/** Where objects lie in a bucket or container. */
export interface BucketPrefix extends RetryContext {
  readonly bucket: string;
  /** Empty, or ends with `/`. */
  readonly prefix: string;
  /** How long a request may wait for its answer, in milliseconds; `answerLimitMs` unless it is given. */
  readonly limitMs?: number | undefined;
}

/** When an object is put: if its name is free, if it has this tag, or always. */
export type PutCondition = 'absent' | { readonly tag: string } | 'always';

/** The first byte, and the last one unless it is the object's last. */
export interface Span {
  readonly first: number;
  readonly last: number | undefined;
}

/** An object to put, and what ends the request. */
export interface PutRequest {
  readonly key: string;
  readonly body: ObjectBody;
  readonly condition: PutCondition;
  readonly stop: AbortSignal;
}

/** The requests that a cloud's client sends. Keys are whole names in the bucket. Nothing is retried or limited in time inside. */
export interface BucketRequests {
  /** One request; resolves to false when the condition is not met. */
  put(request: PutRequest): Promise<boolean>;
  look(key: string, stop: AbortSignal): Promise<ObjectLook | undefined>;
  /** Bytes of an object; all without `span`. Undefined when there is no such object. `stop` ends the wait for the answer. */
  get(
    key: string,
    span: Span | undefined,
    stop: AbortSignal,
  ): Promise<{ tag: string; blocks: AsyncIterable<Uint8Array> } | undefined>;
  /** A page of the keys that begin with `prefix`, sorted. */
  page(prefix: string, token: string | undefined, stop: AbortSignal): Promise<ListedPage>;
  /** A page of the keys that begin with `folder`, up to and with the next slash, each once. */
  names(folder: string, token: string | undefined, stop: AbortSignal): Promise<ListedNames>;
  /** An absent object is no error. */
  remove(key: string, stop: AbortSignal): Promise<unknown>;
  /** What an error of any of these means. */
  faultOf(error: unknown): StoreFault;
}

export interface ListedNames {
  readonly keys: readonly string[];
  readonly next: string | undefined;
}

export interface ListedPage {
  readonly objects: Iterable<{ readonly key: string; readonly bytes: number }>;
  readonly next: string | undefined;
}

/** Answers in a row that may break without a byte. */
const mostBreaks = 20;

/** The longest wait after one, in milliseconds. */
const mostBreakMs = 1000;

/** So many removals run at once. Not every store removes many objects in one request. */
const removalsAtOnce = 16;

/** Objects of a bucket under a prefix. Each put is one request, because stores ignore conditions of multipart uploads. */
export function createBucketObjects(place: BucketPrefix, requests: BucketRequests): ObjectStore {
  const { prefix, abort, limitMs = answerLimitMs } = place;
  const question = new LastQuestion(abort, {
    ask: (stop) => requests.look(`${prefix}.run/probe/last`, stop),
    isAnswer: (error) => requests.faultOf(error) !== 'passing',
  });
  const shown = (name: string): string => `${place.address.replace(/\/$/, '')}/${name}`;
  /** The clients' own limits are those of a silent socket: this one ends any request. */
  const retried = <T>(operation: (stop: AbortSignal) => Promise<T>, mostMs = limitMs): Promise<T> =>
    withStoreRetries(
      place,
      (error) => requests.faultOf(error),
      () => question.during((gone) => withinTime(mostMs, operation, gone)),
    );

  async function put(name: string, body: ObjectBody, condition: PutCondition): Promise<boolean> {
    requirePuttable(name, body);
    const key = prefix + name;
    return retried((stop) => requests.put({ key, body, condition, stop }), putLimitMs(limitMs, sizeOfBody(body)));
  }

  /** A broken answer is resumed where it broke, whatever the client says of it. */
  async function* read(name: string, range?: ByteRange): AsyncGenerator<Uint8Array, void, void> {
    let done = range?.from ?? 0;
    let breaks = 0;
    const last = range === undefined ? undefined : range.from + range.length - 1;
    for (let tag: string | undefined; last === undefined || done <= last; ) {
      const span = done === 0 && last === undefined ? undefined : { first: done, last };
      const answer = await retried((stop) => requests.get(prefix + name, span, stop));
      if (answer === undefined) throw absentObject(shown(name));
      if (tag !== undefined && answer.tag !== tag) throw changedObject(shown(name));
      tag = answer.tag;
      try {
        for await (const block of question.blocks(answer.blocks)) {
          done += block.length;
          breaks = 0;
          yield block;
        }
        return;
      } catch (error) {
        abort?.throwIfAborted();
        breaks += 1;
        if (breaks > mostBreaks) throw storeUnavailable(place.address, error);
        await place.clock.sleep(place.random() * mostBreakMs, abort);
      }
    }
  }

  return {
    putNew: async (name, body) => ((await put(name, body, 'absent')) ? 'put' : 'taken'),
    replace: async (name, body, tag) => ((await put(name, body, { tag })) ? 'put' : 'changed'),
    put: async (name, body) => {
      await put(name, body, 'always');
    },
    look: (name) => retried((stop) => requests.look(prefix + name, stop)),
    read,
    list: async function* (start) {
      let token: string | undefined;
      do {
        const page = await retried((stop) => requests.page(prefix + start, token, stop));
        for (const { key, bytes } of page.objects) yield { name: key.slice(prefix.length), bytes };
        token = page.next;
      } while (token !== undefined);
    },
    names: async function* (folder) {
      const start = prefix + folder;
      let token: string | undefined;
      do {
        const page = await retried((stop) => requests.names(start, token, stop));
        for (const key of page.keys) yield key.slice(start.length);
        token = page.next;
      } while (token !== undefined);
    },
    remove: async (names) => {
      for (let start = 0; start < names.length; start += removalsAtOnce) {
        const some = names.slice(start, start + removalsAtOnce);
        await Promise.all(some.map((name) => retried((stop) => requests.remove(prefix + name, stop))));
      }
    },
  };
}

/** Sends a body; a file is opened anew for each attempt, and closed when this one is over. */
export async function withBytes<T>(
  body: ObjectBody,
  stop: AbortSignal,
  send: (bytes: Buffer | ReadStream) => Promise<T>,
): Promise<T> {
  if (!('file' in body)) return send(Buffer.from(body.bytes.buffer, body.bytes.byteOffset, body.bytes.byteLength));
  const stream = createReadStream(body.file, { highWaterMark: 1 << 20 });
  const destroy = (): void => {
    stream.destroy();
  };
  stop.addEventListener('abort', destroy, { once: true });
  try {
    return await send(stream);
  } finally {
    if (stream.bytesRead < body.bytes) destroy();
    await readEnd(stream);
    stop.removeEventListener('abort', destroy);
  }
}

/**
 * A store answers at the last byte, when the end of the file is not read yet. A request whose end is not written holds its
 * connection, and with it the process. Where the connection is closed instead, the stream is paused, and nobody else reads on.
 */
async function readEnd(stream: ReadStream): Promise<void> {
  stream.on('pause', () => stream.resume()).resume();
  await finished(stream).catch(() => undefined);
}
