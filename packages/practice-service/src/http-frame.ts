import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../../../src/lib/clock.ts';
import { deliver } from './deliver.ts';
import { keyOf, type SpokenDialect, takesKey } from './dialect.ts';
import {
  type HttpAnswer,
  jsonAnswer,
  keyMissing,
  keyRefused,
  requestTooBig,
  textAnswer,
  wrongContentType,
} from './http-answer.ts';
import { errorAnswer, internalError } from './json-rpc.ts';
import { ClientLeft, readRequestBody } from './read-request-body.ts';

export interface HttpFrameOptions {
  /** Where the path and the key are. */
  readonly dialect: SpokenDialect;
  /** True for a key that the service knows. */
  readonly isKey: (key: string) => boolean;
  readonly answer: (key: string, body: Buffer) => Promise<HttpAnswer>;
  /** Called for every exchange on the service's path. */
  readonly onExchange: () => void;
  /** Called for an error that the client did not cause. */
  readonly onError: (error: unknown) => void;
  /** How long a client may take to send its whole request. */
  readonly requestTimeoutMs: number;
  /** How long a connection may stand still, as when its client does not read; 0 for ever. */
  readonly idleTimeoutMs: number;
  readonly clock: Clock;
}

/** No key is longer. */
const longestKey = 1000;

/** How long a connection is kept for the next request. */
const keepAliveTimeoutMs = 72_000;

const ending: HttpAnswer = { ...textAnswer(503, 'the service ends'), headers: { connection: 'close' } };
const notFound = textAnswer(404, 'not found');
const badRequest = textAnswer(400, 'bad request');
const usePost: HttpAnswer = { ...textAnswer(405, 'use POST'), headers: { ...notFound.headers, allow: 'POST' } };
const otherMethods: ReadonlySet<string | undefined> = new Set(['GET', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS']);

/** HTTP around the service: one path, one health check, and a short refusal for everything else. */
export class HttpFrame {
  readonly #options: HttpFrameOptions;
  readonly #servers: Server[] = [];
  /** Answers that were looked up, until their connections took them or ended. */
  readonly #answering = new Set<Promise<unknown>>();
  readonly #turns = new WeakMap<Socket, Promise<unknown>>();
  readonly #ending = new AbortController();
  #isEnding = false;

  constructor(options: HttpFrameOptions) {
    this.#options = options;
  }

  /** Resolves to where it listens. `localhost` can have two addresses, and clients take either. */
  async listen(host: string, port: number): Promise<AddressInfo> {
    const address = await this.#listenAt(host, port);
    const others = host === 'localhost' ? await lookup(host, { all: true }) : [];
    for (const other of others) {
      if (other.address !== address.address) await this.#listenAt(other.address, address.port).catch(() => undefined);
    }
    return address;
  }

  /** Sends what was looked up, for at most `graceMs`; then connections are cut. When it resolves, nothing is booked any more. */
  async close(graceMs = 0): Promise<void> {
    this.#isEnding = true;
    const closed = this.#servers.map((server) => new Promise((resolve) => server.close(resolve)));
    const sent = new AbortController();
    const late = this.#options.clock.sleep(graceMs, sent.signal).catch(() => undefined);
    if (graceMs > 0) await Promise.race([Promise.allSettled(this.#answering), late]);
    sent.abort();
    this.#ending.abort(new Error('the service ends'));
    for (const server of this.#servers) server.closeAllConnections();
    await Promise.allSettled([...closed, ...this.#answering]);
  }

  async #listenAt(host: string, port: number): Promise<AddressInfo> {
    const { requestTimeoutMs, idleTimeoutMs } = this.#options;
    const server = createServer({
      requestTimeout: requestTimeoutMs,
      headersTimeout: requestTimeoutMs,
      connectionsCheckingInterval: Math.min(1000, requestTimeoutMs),
      keepAliveTimeout: keepAliveTimeoutMs,
    });
    server.setTimeout(idleTimeoutMs);
    server.on('clientError', refuseMalformed);
    server.on('request', (request, response) => {
      void this.#exchange(request, response);
    });
    this.#servers.push(server);
    server.listen({ host, port });
    await once(server, 'listening');
    return server.address() as AddressInfo;
  }

  async #exchange(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A client that goes away is no news.
    response.on('error', () => undefined);
    let answer: HttpAnswer;
    try {
      answer = await this.#answer(request, response);
    } catch (error) {
      if (error instanceof ClientLeft) return;
      this.#options.onError(error);
      answer = jsonAnswer(500, errorAnswer('null', internalError));
    }
    const { delivery, status, headers, body } = answer;
    if (delivery !== undefined) {
      const options = { clock: this.#options.clock, signal: this.#ending.signal };
      await deliver(response, answer, options).catch(() => response.destroy());
      return;
    }
    response.writeHead(status, body === undefined ? headers : { ...headers, 'content-length': body.length });
    response.end(body);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<HttpAnswer> {
    const { socket } = request;
    const turn = this.#turns.get(socket);
    const taken = new Promise((resolve) => response.once('close', resolve));
    this.#turns.set(socket, taken);
    const { method, url = '' } = request;
    const segments = segmentsOf(url);
    if (segments === undefined) return badRequest;
    // Before any answer, which can be lost while the client is still sending.
    const body = await readRequestBody(request);
    const { dialect } = this.#options;
    if (segments[0] === 'healthz' && segments.length === 1 && method === 'GET') return textAnswer(200, 'ready');
    const key = keyOf(dialect, segments, request);
    if (key === undefined) return notFound;
    if (key.length > longestKey) return badRequest;
    if (key === '' && takesKey(dialect)) return method === 'POST' ? keyMissing : notFound;
    if (method !== 'POST') return otherMethods.has(method) ? usePost : notFound;
    this.#options.onExchange();
    if (!this.#options.isKey(key)) return keyRefused;
    if (!/^application\/json *(;|$)/i.test(request.headers['content-type'] ?? '')) return wrongContentType;
    if (body === undefined) return requestTooBig;
    // A client that does not read has one answer looked up.
    await turn;
    if (socket.destroyed) throw new ClientLeft();
    if (this.#isEnding) return ending;
    const answering = this.#options.answer(key, body);
    const sending = Promise.allSettled([answering, taken]).finally(() => this.#answering.delete(sending));
    this.#answering.add(sending);
    return answering;
  }
}

/** The decoded parts of a path; undefined where they are not well-formed. */
function segmentsOf(url: string): string[] | undefined {
  const [path = ''] = url.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/);
  try {
    return path.startsWith('/') ? path.slice(1).split('/').map(decodeURIComponent) : undefined;
  } catch {
    return undefined;
  }
}

const statusOfParserError: Readonly<Record<string, string>> = {
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
};

/** What is not even HTTP gets a status and a closed connection. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const status = statusOfParserError[error.code ?? ''] ?? '400 Bad Request';
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
