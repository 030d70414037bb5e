import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { BufferPool } from '../lib/buffer-pool.ts';
import type { Clock } from '../lib/clock.ts';
import { ExportError } from '../lib/export-error.ts';
import type { AssetAnswer, AssetCall, AssetClient } from './asset-client.ts';
import { AttemptError } from './attempt-error.ts';
import { callBody } from './call-body.ts';
import type { ClientListener } from './client-events.ts';
import { judgeAnswer, type WireAnswer } from './judge-answer.ts';
import { networkFailure } from './network-failure.ts';
import type { ProxySettings } from './proxy-settings.ts';
import { readBody } from './read-body.ts';
import type { ServiceAddress } from './service-address.ts';

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
  const dispatcher = createDispatcher(options);
  const pool = new BufferPool(mostFreeBytes);

  return {
    ask: async (call: AssetCall): Promise<AssetAnswer> => {
      options.abort?.throwIfAborted();
      listener?.({ kind: 'sent', ids: call.ids.length });
      const startedMs = clock.now();
      const wire = await withDeadline(options, (signal) => exchange(dispatcher, { call, signal, options, pool }));
      const answer = judgeAnswer(wire, call, { scrub: address.scrub, nowMs: clock.now() });
      listener?.({ kind: 'answered', ids: call.ids.length, bytes: wire.body.length, ms: clock.now() - startedMs });
      if (answer.kind !== 'records') return answer;
      const release = (): void => {
        pool.give(wire.body);
      };
      return { ...answer, release };
    },
    close: () => dispatcher.close(),
  };
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
    throw new ExportError('usage', 'HTTP_PROXY or HTTPS_PROXY is no valid proxy address.', {
      todo: 'Give it as http://host:port, or unset it.',
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
  // A body that is given up ends in an error event, which nobody else listens to.
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

/** The status says enough when the body of an error cannot be read, but for the end of all reading. */
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
async function withDeadline<T>(options: HttpClientOptions, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
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
    if (deadline.passed) throw new AttemptError('transient', `no whole answer within ${timeoutMs / 1000} s`);
    throw networkFailure(error, options.address.scrub);
  } finally {
    done.abort();
    abort?.removeEventListener('abort', onAbort);
  }
}
