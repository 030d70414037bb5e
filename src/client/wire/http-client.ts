import type { Dispatcher } from 'undici';
import { BufferPool } from '../../lib/buffer-pool.ts';
import type { Json } from '../../records/json/json.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { shortageIn } from '../../lib/process/shortage.ts';
import { type AssetAnswer, type AssetCall, type AssetClient, settledIds } from '../asset-client.ts';
import { AttemptError } from '../attempt-error.ts';
import { callBody, requestId } from './call-body.ts';
import type { ClientListener } from '../client-events.ts';
import { judgeAnswer, type JudgeOptions, type WireAnswer } from './judge-answer.ts';
import { networkFailure } from './network-failure.ts';
import type { ProxySettings } from './proxy-settings.ts';
import { readBody } from './read-body.ts';
import { type ServiceAddress, serviceAddress } from './service-address.ts';
import { Agent, EnvHttpProxyAgent } from './undici-agents.ts';

export interface HttpClientOptions {
  readonly address: ServiceAddress;
  /** Most connections at once: no fewer than calls at once, or calls would wait inside their deadline. */
  readonly connections: number;
  /** Deadline of a whole exchange, from connecting to the last byte. */
  readonly timeoutMs: number;
  /** Longest answer, decoded. */
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
  readonly proxy?: ProxySettings | undefined;
  /** Kills the exchanges in flight. */
  readonly abort?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

export interface HttpClient extends AssetClient {
  /** Ends idle connections at once, and others when their answer is there. */
  close(): Promise<void>;
}

/** Longest body of an answer other than 200 that is worth reading for its message. */
const maxErrorBytes = 65_536;

/** Answers' memory that waits for others: some twenty of the usual size. */
const mostFreeBytes = 64 * 1024 * 1024;

/** One exchange a call, nothing repeated, redirects not followed. The only file that knows the HTTP library. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { address, clock, listener } = options;
  const pool = new BufferPool(mostFreeBytes);
  const sentIds = new RecentIds();
  let connections = openConnections(options);
  const closing: Promise<void>[] = [];

  /** A connection that is one answer behind stays so: further calls get new ones. */
  function renew(used: Connections): void {
    if (connections !== used) return;
    connections = openConnections(options);
    closing.push(used.dispatcher.close());
  }

  function judged(wire: WireAnswer, call: AssetCall, { used, isOfAnother }: Judged): AssetAnswer {
    try {
      return judgeAnswer(wire, call, { scrub: address.scrub, nowMs: clock.now(), isOfAnother });
    } catch (error) {
      if (error instanceof AttemptError && error.foreign) renew(used);
      throw error;
    }
  }

  async function answerTo(call: AssetCall): Promise<{ readonly answer: AssetAnswer; readonly body: Uint8Array }> {
    const used = connections;
    const id = requestId(call);
    sentIds.add(id);
    const work = (signal: AbortSignal) => exchange(used.dispatcher, { call, signal, options, pool });
    const wire = await withDeadline(options, work, used.hasFailed);
    const isOfAnother = (other: Json | undefined) => other !== id && sentIds.has(other);
    return { answer: judged(wire, call, { used, isOfAnother }), body: wire.body };
  }

  return {
    ask: async (call: AssetCall): Promise<AssetAnswer> => {
      options.abort?.throwIfAborted();
      listener?.({ kind: 'sent', ids: call.ids.length });
      const startedMs = clock.now();
      const { answer, body } = await answerTo(call).catch((error: unknown) => {
        listener?.({ kind: 'failed', why: error instanceof AttemptError ? error.why : 'other' });
        throw error;
      });
      // A call without a reader settles nothing: it shows how the service does.
      const ids = call.reader === undefined ? 0 : settledIds(answer, call.ids.length);
      listener?.({ kind: 'answered', ids, bytes: body.length, ms: clock.now() - startedMs });
      if (answer.kind !== 'records') return answer;
      const release = (): void => {
        pool.give(body);
      };
      return { ...answer, release };
    },
    close: async () => {
      await Promise.all([connections.dispatcher.close(), ...closing]);
    },
  };
}

interface Judged extends Pick<JudgeOptions, 'isOfAnother'> {
  /** What the answer came over. */
  readonly used: Connections;
}

interface Connections {
  readonly dispatcher: Dispatcher;
  /** True of an error that came while connecting: nothing of the request was sent. */
  readonly hasFailed: (error: unknown) => boolean;
}

function openConnections(options: HttpClientOptions): Connections {
  const dispatcher = createDispatcher(options);
  const failures = new WeakSet();
  dispatcher.on('connectionError', (_origin, _targets, error) => failures.add(error));
  return { dispatcher, hasFailed: (error) => error instanceof Error && failures.has(error) };
}

function createDispatcher(options: HttpClientOptions): Dispatcher {
  // The deadline of the whole exchange replaces undici's timeouts, which a slow drip of bytes never reaches.
  const settings = {
    connections: options.connections,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: options.timeoutMs },
  };
  const { proxy } = options;
  if (proxy === undefined) return new Agent(settings);
  try {
    return new EnvHttpProxyAgent({
      ...settings,
      httpProxy: proxy.http,
      httpsProxy: proxy.https,
      noProxy: proxy.except,
    });
  } catch {
    // The cause is left out: it carries the proxy's address, which may hold a password.
    throw new ExportError('usage', 'HTTP_PROXY or HTTPS_PROXY is not a valid proxy address.', {
      todo: 'Write it as http://host:port, or unset it.',
    });
  }
}

interface Exchange {
  readonly call: AssetCall;
  readonly signal: AbortSignal;
  readonly options: HttpClientOptions;
  readonly pool: BufferPool;
}

async function exchange(dispatcher: Dispatcher, { call, signal, options, pool }: Exchange): Promise<WireAnswer> {
  const { origin, path } = options.address;
  const answer = await dispatcher.request({
    origin,
    path,
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'gzip' },
    body: callBody(call),
    signal,
  });
  // An abandoned body ends in an error event, which has no other listener.
  answer.body.on('error', () => undefined);
  const status = answer.statusCode;
  const maxBytes = status === 200 ? options.maxAnswerBytes : maxErrorBytes;
  const reading = readBody(answer.body, {
    maxBytes,
    pool,
    encoding: headerOf(answer, 'content-encoding'),
    length: Number(headerOf(answer, 'content-length') ?? 0),
  });
  const body = status === 200 ? await reading : await reading.catch(emptyUnless(signal));
  return { status, retryAfter: headerOf(answer, 'retry-after'), body };
}

/** If the body of an error cannot be read, its status is enough, unless reading was stopped. */
function emptyUnless(signal: AbortSignal): (error: unknown) => Uint8Array {
  return (error) => {
    if (signal.aborted) throw error;
    return new Uint8Array();
  };
}

function headerOf(answer: Dispatcher.ResponseData, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Runs one exchange until its deadline or until all are aborted. */
async function withDeadline<T>(
  options: HttpClientOptions,
  run: (signal: AbortSignal) => Promise<T>,
  isOfConnect: (error: unknown) => boolean,
): Promise<T> {
  const { abort, clock, timeoutMs } = options;
  const cut = new AbortController();
  const done = new AbortController();
  const deadline = { passed: false };
  const onAbort = (): void => {
    cut.abort();
  };
  abort?.addEventListener('abort', onAbort, { once: true });
  clock.sleep(timeoutMs, done.signal).then(
    () => {
      deadline.passed = true;
      cut.abort();
    },
    () => undefined, // The exchange ended first.
  );
  try {
    return await run(cut.signal);
  } catch (error) {
    if (abort?.aborted === true) throw abort.reason;
    if (deadline.passed)
      throw new AttemptError('transport', `no complete answer within ${timeoutMs / 1000} s`, { why: 'timeout' });
    const shortage = shortageIn(error);
    if (shortage !== undefined)
      throw new ExportError('cannotWrite', `The service cannot be reached: ${shortage.what}.`, { todo: shortage.todo });
    throw networkFailure(error, options.address.scrub, isOfConnect(error));
  } finally {
    done.abort();
    abort?.removeEventListener('abort', onAbort);
  }
}

/** More calls than a connection can be behind. */
const mostIds = 4096;

/** The JSON-RPC ids of the calls that were sent last: an answer that carries one of them belongs to that call. */
export class RecentIds {
  readonly #ids = new Set<Json | undefined>();

  add(id: number): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    if (this.#ids.size <= mostIds) return;
    for (const oldest of this.#ids) {
      this.#ids.delete(oldest);
      return;
    }
  }

  has(id: Json | undefined): boolean {
    return this.#ids.has(id);
  }
}

export interface WireOptions extends Pick<HttpClientOptions, 'timeoutMs' | 'proxy' | 'abort' | 'listener'> {
  /** Base address, without `/v3/<key>`. */
  readonly url: string;
  readonly apiKey: string;
  readonly concurrency: number;
  /** Longest answer to hold, decoded; default 64 MiB, six times what known services send at most. */
  readonly maxAnswerBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Exchanges calls for answers; default HTTP. */
  readonly openWire?: ((options: HttpClientOptions) => HttpClient) | undefined;
}

const defaultMaxAnswerBytes = 64 * 1024 * 1024;

/** The wire without any policy. @throws {ExportError} `usage` when the address or the key cannot be right. */
export function createWire(options: WireOptions): HttpClient {
  return (options.openWire ?? createHttpClient)({
    ...options,
    clock: options.clock ?? systemClock,
    address: serviceAddress(options),
    connections: options.concurrency,
    maxAnswerBytes: options.maxAnswerBytes ?? defaultMaxAnswerBytes,
  });
}
