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
  putSideBySide,
} from './object-store.ts';
import {
  noBucket,
  type RetryContext,
  type StoreFault,
  storeUnavailable,
  withStoreRetries,
  answerLimitMs,
  putLimitMs,
  withinTime,
} from './store-retries.ts';
import { ExportError } from '../../lib/export-error.ts';
import { setMaxListeners } from 'node:events';
import { untilAborted } from '../../lib/end-work.ts';

/** How long a store may take to answer the last question, in milliseconds. */
const answerMs = 1000;

interface Question {
  /** A small request. */
  ask(stop: AbortSignal): Promise<unknown>;
  /** Whether its error shows that the store works, as a refusal does. */
  isAnswer(error: unknown): boolean;
}

/**
 * Ends the wait for a store when the process is told to end and its time of grace is over. A store that is in use then is asked a
 * question. One that answers takes what is under way and what is to be kept for other processes, however long that takes.
 * One that does not answer is given up, with all that waits for it.
 */
class LastQuestion {
  readonly #abort: AbortSignal | undefined;
  readonly #question: Question;
  readonly #gone = new AbortController();
  #isAsked = false;

  constructor(abort: AbortSignal | undefined, question: Question) {
    this.#abort = abort;
    this.#question = question;
    // Several requests run at once.
    for (const signal of [abort, this.#gone.signal]) if (signal !== undefined) setMaxListeners(0, signal);
  }

  /** Runs work that uses the store. `gone` is aborted, with the reason of `abort`, where the store is given up. */
  async during<T>(work: (gone: AbortSignal) => Promise<T>): Promise<T> {
    const abort = this.#abort;
    if (abort === undefined) return work(this.#gone.signal);
    const ask = (): void => {
      void this.#askOnce(abort);
    };
    if (abort.aborted) ask();
    else abort.addEventListener('abort', ask, { once: true });
    try {
      return await work(this.#gone.signal);
    } finally {
      abort.removeEventListener('abort', ask);
    }
  }

  /** The blocks of an answer, as long as the store is not given up. */
  async *blocks(blocks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
    const iterator = blocks[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.during((gone) => untilAborted(iterator.next(), gone));
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      // It may wait for a block that never comes.
      iterator.return?.().catch(() => undefined);
    }
  }

  async #askOnce(abort: AbortSignal): Promise<void> {
    if (this.#isAsked) return;
    this.#isAsked = true;
    try {
      await withinTime(answerMs, (stop) => this.#question.ask(stop));
    } catch (error) {
      if (!this.#question.isAnswer(error)) this.#gone.abort(abort.reason);
    }
  }
}

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
  /** Rejects when the condition is not met. */
  put(request: PutRequest): Promise<unknown>;
  look(key: string, stop: AbortSignal): Promise<ObjectLook | undefined>;
  /** Bytes of an object; all without `span`. Undefined when there is no such object. `stop` ends the wait for the answer. */
  get(
    key: string,
    span: Span | undefined,
    stop: AbortSignal,
  ): Promise<{ tag: string; blocks: AsyncIterable<Uint8Array> } | undefined>;
  page(request: {
    readonly prefix: string;
    readonly isFolder: boolean;
    readonly token: string | undefined;
    readonly stop: AbortSignal;
  }): Promise<ListedPage>;
  /** Pages without a name that the store's documents allow for. */
  readonly emptyPages?: number;
  /** An absent object is no error. */
  remove(key: string, stop: AbortSignal): Promise<unknown>;
  /** The HTTP status of an answer with an error. */
  statusOf(error: unknown): number | undefined;
  /** What an error of any of these means. */
  faultOf(error: unknown): StoreFault;
}

/** Answers in a row that may break without a byte. */
const mostBreaks = 20;

/** The longest wait after one, in milliseconds. */
const mostBreakMs = 1000;

/** So many removals run at once. Not every store removes many objects in one request. */
const removalsAtOnce = 16;

/** Objects of a bucket under a prefix. Each put is one request, because stores ignore conditions of multipart uploads. */
export function createBucketObjects(place: BucketPrefix, requests: BucketRequests): ObjectStore {
  const { prefix } = place;
  const bucket = new PatientBucket(place, requests);
  const putNew: ObjectStore['putNew'] = async (name, body) =>
    (await bucket.put(name, body, 'absent')) ? 'put' : 'taken';
  return {
    isShared: true,
    putNew,
    putAll: (bodies) => putSideBySide(putNew, bodies),
    replace: async (name, body, tag) => ((await bucket.put(name, body, { tag })) ? 'put' : 'changed'),
    put: async (name, body) => {
      await bucket.put(name, body, 'always');
    },
    look: (name) => bucket.send((stop) => requests.look(prefix + name, stop)),
    read: (name, range) => bucket.read(name, range),
    list: async function* (start) {
      for await (const { key, bytes } of bucket.list(prefix + start, false))
        yield { name: key.slice(prefix.length), bytes };
    },
    names: async function* (folder) {
      const start = prefix + folder;
      for await (const { key } of bucket.list(start, true)) yield key.slice(start.length);
    },
    remove: async (names) => {
      for (let start = 0; start < names.length; start += removalsAtOnce) {
        const some = names.slice(start, start + removalsAtOnce);
        await Promise.all(some.map((name) => bucket.send((stop) => requests.remove(prefix + name, stop))));
      }
    },
  };
}

/** Repeats requests that fail in passing, until the store is given up. */
class PatientBucket {
  readonly #place: BucketPrefix;
  readonly #requests: BucketRequests;
  readonly #question: LastQuestion;
  readonly #limitMs: number;

  constructor(place: BucketPrefix, requests: BucketRequests) {
    this.#place = place;
    this.#requests = requests;
    this.#limitMs = place.limitMs ?? answerLimitMs;
    this.#question = new LastQuestion(place.abort, {
      ask: (stop) => requests.look(`${place.prefix}.run/probe/last`, stop),
      isAnswer: (error) => requests.faultOf(error) !== 'passing',
    });
  }

  /** The clients' own limits are those of a silent socket: this one ends any request. */
  send<T>(request: (stop: AbortSignal) => Promise<T>, mostMs = this.#limitMs, needs?: string): Promise<T> {
    return withStoreRetries(
      this.#place,
      (error) => this.#requests.faultOf(error),
      () => this.#question.during((gone) => withinTime(mostMs, request, gone)),
      needs,
    );
  }

  list(prefix: string, isFolder: boolean): AsyncIterable<ListedObject> {
    const ask = (token: string | undefined) =>
      this.send((stop) => this.#requests.page({ prefix, isFolder, token, stop }));
    return readListing({ address: this.#place.address, prefix, emptyPages: this.#requests.emptyPages, ask });
  }

  async put(name: string, body: ObjectBody, condition: PutCondition): Promise<boolean> {
    requirePuttable(name, body);
    const key = this.#place.prefix + name;
    const mostMs = putLimitMs(this.#limitMs, sizeOfBody(body));
    const put = async (stop: AbortSignal): Promise<boolean> => {
      try {
        await this.#requests.put({ key, body, condition, stop });
        return true;
      } catch (error) {
        if (await this.#isUnmet(error, key, condition, stop)) return false;
        throw error;
      }
    };
    return this.send(put, mostMs, condition === 'always' ? undefined : 'conditional writes');
  }

  /** Whether a put failed by its condition. Stores say that a name exists by 304 and 409 too, which also mean other things. */
  async #isUnmet(error: unknown, key: string, condition: PutCondition, stop: AbortSignal): Promise<boolean> {
    const status = this.#requests.statusOf(error);
    const fault = this.#requests.faultOf(error);
    if (condition === 'always' || fault === 'passing') return false;
    if (status === 412) return true;
    if (condition !== 'absent') return status === 404 && fault !== noBucket;
    return (status === 304 || status === 409) && (await this.#requests.look(key, stop)) !== undefined;
  }

  /** A broken answer is resumed where it broke, whatever the client says of it. */
  async *read(name: string, range?: ByteRange): AsyncGenerator<Uint8Array, void, void> {
    const { address, prefix, abort, clock, random } = this.#place;
    const shown = `${address.replace(/\/$/, '')}/${name}`;
    let done = range?.from ?? 0;
    let breaks = 0;
    const last = range === undefined ? undefined : range.from + range.length - 1;
    for (let tag: string | undefined; last === undefined || done <= last; ) {
      const span = done === 0 && last === undefined ? undefined : { first: done, last };
      const answer = await this.send((stop) => this.#requests.get(prefix + name, span, stop));
      if (answer === undefined) throw absentObject(shown);
      if (tag !== undefined && answer.tag !== tag) throw changedObject(shown);
      tag = answer.tag;
      try {
        for await (const block of this.#question.blocks(answer.blocks)) {
          done += block.length;
          breaks = 0;
          yield block;
        }
        return;
      } catch (error) {
        abort?.throwIfAborted();
        breaks += 1;
        if (breaks > mostBreaks) throw storeUnavailable(address, error);
        await clock.sleep(random() * mostBreakMs, abort);
      }
    }
  }
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

/** A page of a listing, as a store sends it. */
interface ListedPage {
  readonly objects: readonly ListedObject[];
  /** Where the next page begins; undefined or empty at the end. */
  readonly next: string | undefined;
  /** True where more names follow and it does not say where, or it counts more than it has. */
  readonly isCut?: boolean | undefined;
}

interface ListedObject {
  /** Of a folder it ends with `/`, in a listing of what is directly within another one. */
  readonly key: string;
  readonly bytes: number;
}

/**
 * Reads all pages of a listing, each key once. It requests no more pages than there are keys, and one, beside `emptyPages`.
 * @throws {ExportError} `unavailable` where pages repeat each other or miss names
 */
async function* readListing({
  address,
  prefix,
  emptyPages = 0,
  ask,
}: {
  /** The address of the store, for messages. */
  readonly address: string;
  /** All keys begin with it. */
  readonly prefix: string;
  /** Pages without a name that the store may send before its names. */
  readonly emptyPages?: number | undefined;
  readonly ask: (token: string | undefined) => Promise<ListedPage>;
}): AsyncGenerator<ListedObject> {
  const keys = new Set<string>();
  const tokens = new Set<string>();
  let token: string | undefined;
  for (let pages = 1; ; pages += 1) {
    const { objects, next = '', isCut = false } = await ask(token);
    const fresh = objects.filter(({ key }) => keys.size < keys.add(key).size);
    const wrong = (problem: string): ExportError => brokenListing(address, `page ${pages} ${problem}`);
    const foreign = fresh.find(({ key }) => !key.startsWith(prefix));
    if (foreign !== undefined) throw wrong(`has "${foreign.key}", which is not below "${prefix}"`);
    if (isCut) throw wrong('is cut');
    yield* fresh;
    if (next === '') return;
    if (tokens.has(next)) throw wrong('leads back to a page before it');
    if (fresh.length === 0 && (objects.length > 0 || pages > keys.size + emptyPages)) throw wrong('has no new name');
    tokens.add(next);
    token = next;
  }
}

function brokenListing(address: string, problem: string): ExportError {
  return new ExportError('unavailable', `${address} sends a broken listing: ${problem}`, {
    todo: 'Run the same command again. If it fails again, report it to the operator of the store.',
  });
}
