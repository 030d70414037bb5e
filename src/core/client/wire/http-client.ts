import { BufferPool } from '../../../lib/buffer-pool.ts';
import type { Json } from '../../../lib/json/json.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import {
  type AssetAnswer,
  type AssetCall,
  type AssetClient,
  type RefusedAnswer,
  settledIds,
  AttemptError,
  type ClientListener,
} from '../asset-client.ts';
import { callBody, requestId } from './call-body.ts';
import { type Concurrency, mostAtOnce } from '../judgement/call-limit.ts';
import type { ServiceDialect } from '../dialects.ts';
import { type Connections, openConnections } from './connections.ts';
import { exchange, type ExchangeOptions, unsent } from './exchange.ts';
import { type AnswerReading, judgeAnswer, judgeReading, type JudgeOptions, type WireAnswer } from './judge-answer.ts';
import { proxyFor, type ProxySettings } from './proxy-settings.ts';
import { type ServiceAddress, serviceAddress, type TlsMaterial } from './service-address.ts';

export interface HttpClientOptions {
  readonly address: ServiceAddress;
  readonly dialect?: ServiceDialect | undefined;
  /** Most connections at once: no fewer than calls at once, or calls would wait inside their deadline. */
  readonly connections: number;
  /** Deadline of a whole exchange, from connecting to the last byte, without the time for which its body waits for room. */
  readonly timeoutMs: number;
  /** Longest answer, decoded. */
  readonly maxAnswerBytes: number;
  readonly clock: Clock;
  readonly proxy?: ProxySettings | undefined;
  readonly tls?: TlsMaterial | undefined;
  /** Kills the exchanges in flight. */
  readonly abort?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

/** What an answer is read as that is not for ids. */
export interface OtherAnswer {
  readonly kind: string;
  readonly responseId: Json | undefined;
}

/** A request that is not for ids: a page of a list. */
export interface OtherRequest<Parsed extends OtherAnswer> extends Pick<AnswerReading<Parsed>, 'parse'> {
  /** JSON-RPC, as UTF-8, and its `id`. A retry has the same. */
  readonly body: Uint8Array<ArrayBuffer>;
  readonly id: number;
  /** It must not reuse a connection. */
  readonly fresh?: boolean | undefined;
}

export interface HttpClient extends AssetClient {
  /** One exchange, judged as those for ids are. Absent where only ids are requested. @throws as `ask` */
  request?<Parsed extends OtherAnswer>(request: OtherRequest<Parsed>): Promise<Parsed | RefusedAnswer>;
  /** Ends idle connections at once, others when their answer is there, and all after a second. */
  close(): Promise<void>;
}

/** Answers' memory that waits for others: some twenty of the usual size. */
const mostFreeBytes = 64 * 1024 * 1024;

/** One exchange a call, nothing repeated, redirects not followed. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { address, abort, tls, connections: most, timeoutMs } = options;
  const proxy = proxyFor(address.origin, options.proxy);
  const pool = new BufferPool(mostFreeBytes);
  const open = () => openConnections({ origin: address.origin, connections: most, timeoutMs, proxy, tls });
  const [kept, fresh] = [new RenewedConnections(open), new RenewedConnections(open)];
  const way = proxy === undefined ? '' : ` through the proxy of ${proxy.variable}`;
  const exchanges = new ToldExchanges({ ...options, pool, way }, { kept, fresh });
  const onAbort = (): void => {
    kept.destroy();
    fresh.destroy();
  };
  abort?.addEventListener('abort', onAbort, { once: true });
  return {
    request: async <Parsed extends OtherAnswer>(request: OtherRequest<Parsed>) => {
      const reading: AnswerReading<Parsed> = {
        parse: request.parse,
        isForeign: ({ responseId }, { isOfAnother }) => isOfAnother?.(responseId) === true,
      };
      const { answer } = await exchanges.send<Parsed | RefusedAnswer>({
        ...request,
        ids: 0,
        settled: () => 0,
        judge: (wire, judging) => judgeReading(wire, reading, judging),
      });
      return answer;
    },
    ask: async (call: AssetCall): Promise<AssetAnswer> => {
      const { answer, body, latencyMs } = await exchanges.send<AssetAnswer>({
        id: requestId(call),
        body: callBody(call, options.dialect),
        fresh: call.fresh,
        room: call.room,
        ids: call.ids.length,
        settled: (came) => settledIds(came, call),
        judge: (wire, judging) => judgeAnswer(wire, call, judging),
      });
      if (answer.kind !== 'records') return answer;
      const release = (): void => {
        pool.give(body);
      };
      return { ...answer, release, latencyMs };
    },
    close: async () => {
      abort?.removeEventListener('abort', onAbort);
      await Promise.all([kept.close(), fresh.close()]);
    },
  };
}

interface ToldExchange<Answer> extends Pick<AssetCall, 'room'> {
  readonly id: number;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly fresh?: boolean | undefined;
  /** How many ids it is for, and how many of them an answer settles. */
  readonly ids: number;
  readonly settled: (answer: Answer) => number;
  readonly judge: (wire: WireAnswer, options: JudgeOptions) => Answer;
}

interface Exchanged<Answer> extends Pick<WireAnswer, 'body' | 'latencyMs' | 'heldMs'> {
  readonly answer: Answer;
}

/** Exchanges over connections that are renewed, each told to the listener. */
class ToldExchanges {
  readonly #options: HttpClientOptions & Pick<ExchangeOptions, 'pool' | 'way'>;
  readonly #connections: Readonly<Record<'kept' | 'fresh', RenewedConnections>>;
  readonly #sentIds = new RecentIds();

  constructor(
    options: HttpClientOptions & Pick<ExchangeOptions, 'pool' | 'way'>,
    connections: Readonly<Record<'kept' | 'fresh', RenewedConnections>>,
  ) {
    this.#options = options;
    this.#connections = connections;
  }

  async send<Answer>(sent: ToldExchange<Answer>): Promise<Exchanged<Answer>> {
    const { abort, listener, clock } = this.#options;
    if (abort?.aborted === true) throw unsent(abort.reason);
    listener?.({ kind: 'sent', ids: sent.ids });
    const startedMs = clock.monotonic();
    const came = await this.#exchange(sent).catch((error: unknown) => {
      listener?.({ kind: 'failed', why: error instanceof AttemptError ? error.why : 'other' });
      throw error;
    });
    const ids = sent.settled(came.answer);
    listener?.({
      kind: 'answered',
      ids,
      bytes: came.body.length,
      ms: clock.monotonic() - startedMs - (came.heldMs ?? 0),
    });
    return came;
  }

  async #exchange<Answer>({ id, body, fresh = false, room, judge }: ToldExchange<Answer>): Promise<Exchanged<Answer>> {
    const { address, dialect, clock } = this.#options;
    const connections = this.#connections[fresh ? 'fresh' : 'kept'];
    const used = connections.current;
    this.#sentIds.add(id);
    const wire = await exchange(used.dispatcher, body, { ...this.#options, fresh, room });
    if (wire.status === 407) throw askedByProxy();
    const isOfAnother = (other: Json | undefined) => other !== id && this.#sentIds.has(other);
    const judging = { scrub: address.scrub, dialect, nowMs: clock.now(), isOfAnother };
    try {
      return { ...wire, answer: judge(wire, judging) };
    } catch (error) {
      if (error instanceof AttemptError && error.foreign) connections.renew(used);
      throw error;
    }
  }
}

/** Connections that can be replaced: those that were used before wait for their answers. */
class RenewedConnections {
  current: Connections;
  readonly #open: () => Connections;
  readonly #all: Set<Connections>;

  constructor(open: () => Connections) {
    this.#open = open;
    this.current = open();
    this.#all = new Set([this.current]);
  }

  /** A connection that is one answer behind stays so: further calls get new ones. */
  renew(used: Connections): void {
    if (this.current !== used) return;
    this.current = this.#open();
    this.#all.add(this.current);
    used.dispatcher.close().then(
      () => this.#all.delete(used),
      () => undefined, // The client was closed first.
    );
  }

  destroy(): void {
    for (const each of this.#all) each.destroy();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#all, (each) => each.close()));
  }
}

/** The request has left, but it is no service that says so. */
function askedByProxy(): ExportError {
  return new ExportError('unavailable', 'A proxy before the service wants a user and password (HTTP 407).', {
    todo: 'Put them into HTTPS_PROXY or HTTP_PROXY (http://user:password@host:port), or check service.url. Then run the same command again.',
    why: { kind: 'refused', status: 407 },
  });
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

export interface WireOptions extends Pick<HttpClientOptions, 'timeoutMs' | 'proxy' | 'tls' | 'abort' | 'listener'> {
  /** Base address, without what the dialect adds. */
  readonly url: string;
  readonly dialect?: ServiceDialect | undefined;
  readonly apiKey: string;
  readonly concurrency: Concurrency;
  /** Longest answer to hold, decoded; default 64 MiB, six times what known services send at most. */
  readonly maxAnswerBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  /** Exchanges calls for answers; default HTTP. */
  readonly openWire?: ((options: HttpClientOptions) => HttpClient) | undefined;
}

const defaultMaxAnswerBytes = 64 * 1024 * 1024;

/** The wire without any policy. @throws {ExportError} `usage` when the address, the key or the proxy cannot be right. */
export function createWire(options: WireOptions): HttpClient {
  return (options.openWire ?? createHttpClient)({
    ...options,
    clock: options.clock ?? systemClock,
    address: serviceAddress(options),
    connections: mostAtOnce(options.concurrency),
    maxAnswerBytes: options.maxAnswerBytes ?? defaultMaxAnswerBytes,
  });
}
