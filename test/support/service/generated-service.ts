import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type AnswerOptions, GeneratedAnswers, refusal } from './generated-answers.ts';
import { BatchCounts, type ServiceCounts } from '../batch-counts.ts';
import { randomOf } from '../../../packages/practice-service/src/generated/seeded-random.ts';

export interface GeneratedServiceOptions extends AnswerOptions {
  /** Least time an answer takes. Default 0. */
  readonly delayMs?: number;
  /** Up to so much more, drawn by batch and seed: answers overtake each other. Default 0. */
  readonly jitterMs?: number;
  /** Ids a call may name. Default 1000. */
  readonly maxIds?: number;
  /** Default: any free one. */
  readonly port?: number;
  /** The Retry-After, in seconds, of a call that is answered with 429 instead. */
  readonly throttled?: (call: SeenCall) => number | undefined;
  /** Called at each point of each call; the call goes on when it resolves. */
  readonly at?: (point: CallPoint, call: SeenCall) => Promise<void> | void;
}

/** How far a call has come, as the service sees it: `sent` means that the last byte is with the kernel. */
export type CallPoint = 'received' | 'half sent' | 'sent';

export interface SeenCall {
  /** By arrival, from 1. */
  readonly number: number;
  /** API key of the caller. */
  readonly key: string;
  readonly firstId: string;
}

export interface GeneratedService {
  /** What a job names as the service: `/v3/<key>` is appended to it. Any key is taken. */
  readonly url: string;
  readonly port: number;
  /** What was asked so far; also at `GET /counts`. */
  counts(): ServiceCounts;
  stop(): Promise<void>;
}

interface RpcCall {
  readonly method: unknown;
  readonly params: unknown;
  /** JSON text. */
  readonly rpcId: string;
}

const idShape = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Starts a service on loopback that makes up the record of every id it is asked for, and counts what it was asked. */
export async function startGeneratedService(options: GeneratedServiceOptions = {}): Promise<GeneratedService> {
  const answers = new GeneratedAnswers(options);
  const counts = new BatchCounts();
  let arrived = 0;
  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : new Error(String(error)));
    });
  });

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.url === '/counts') {
      send(response, 200, Buffer.from(JSON.stringify(counts.read())));
      return;
    }
    const [, key] = /^\/v3\/([^/]+)$/.exec(request.url ?? '') ?? [];
    if (request.method !== 'POST' || key === undefined) {
      send(response, 404, Buffer.from('{}'));
      return;
    }
    const call = parseCall(await bodyOf(request));
    if (call === undefined) {
      send(response, 200, refusal(-32700, 'Parse error', 'null'));
      return;
    }
    const ids = idsOf(call);
    const batch = counts.asked(ids);
    arrived += 1;
    const seen = { number: arrived, key, firstId: ids[0] ?? '' };
    await options.at?.('received', seen);
    const retryAfter = options.throttled?.(seen);
    if (retryAfter !== undefined) {
      response.writeHead(429, { 'retry-after': String(retryAfter) }).end();
      return;
    }
    await pause(ids);
    const body = answerTo(call, ids);
    response.once('finish', () => {
      counts.answered(batch);
      void options.at?.('sent', seen);
    });
    if (options.at === undefined) {
      send(response, 200, body);
      return;
    }
    const half = body.length >> 1;
    response.writeHead(200, headersOf(body));
    await written(response, body.subarray(0, half));
    await options.at('half sent', seen);
    response.end(body.subarray(half));
  }

  function answerTo({ method, rpcId }: RpcCall, ids: readonly string[]): Buffer {
    if (ids.length === 0) return refusal(-32602, 'Invalid params', rpcId);
    const { maxIds = 1000 } = options;
    if (ids.length > maxIds) return refusal(-32602, `Batch Size Error: at most ${maxIds} ids`, rpcId);
    const malformed = ids.find((id) => !idShape.test(id));
    if (malformed !== undefined) return refusal(-32000, `Pubkey Validation Err: ${malformed} is invalid`, rpcId);
    const [first = ''] = ids;
    return method === 'getAsset' ? answers.one(first, rpcId) : answers.many(ids, rpcId);
  }

  async function pause(ids: readonly string[]): Promise<void> {
    const { delayMs = 0, jitterMs = 0, seed = 0 } = options;
    const waitMs = delayMs + (jitterMs === 0 ? 0 : randomOf(`delay ${seed} ${ids.join()}`).below(jitterMs + 1));
    if (waitMs > 0) await delay(waitMs);
  }

  const port = await listen(server, options.port ?? 0);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    counts: () => counts.read(),
    stop: () => stop(server),
  };
}

function parseCall(body: string): RpcCall | undefined {
  try {
    const call: unknown = JSON.parse(body);
    if (typeof call !== 'object' || call === null) return undefined;
    const { method, params, id = null } = call as Record<string, unknown>;
    return { method, params, rpcId: JSON.stringify(id) };
  } catch {
    return undefined;
  }
}

/** The ids that a call names; none when its parameters have another shape. */
function idsOf({ method, params }: RpcCall): string[] {
  const first: unknown = Array.isArray(params) ? params[0] : undefined;
  if (method === 'getAsset') return typeof first === 'string' ? [first] : [];
  if (method !== 'getAssets' || !Array.isArray(first)) return [];
  return first.every((id) => typeof id === 'string') ? first : [];
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}

function send(response: ServerResponse, status: number, body: Buffer): void {
  response.writeHead(status, headersOf(body));
  response.end(body);
}

function headersOf(body: Buffer): OutgoingHttpHeaders {
  return { 'content-type': 'application/json', 'content-length': body.length };
}

/** Resolves when the bytes are with the kernel, or can never be: the caller may be dead. */
function written(response: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    response.write(bytes, () => {
      resolve();
    });
  });
}

function listen(server: Server, port: number): Promise<number> {
  // A client that pauses (a budget, a retry) finds its connections open still.
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => {
      if (error === undefined) resolve();
      else reject(error);
    });
    server.closeAllConnections();
  });
}
