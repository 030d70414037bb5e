import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export type Operation = 'PUT' | 'GET' | 'LOOK' | 'LIST' | 'DELETE' | 'TOKEN';

/**
 * What goes wrong with a request. `lost`: done, then the connection breaks. `cut`: half of the answer is sent, then the
 * connection breaks. `half`: half of the answer is sent as if it were all. `stall`: half of the answer is sent, and no more comes. `hang`: no answer comes. `slow`: the answer takes
 * `slowMs`.
 */
export type StoreFaultOfTests = 'lost' | 'cut' | 'half' | 'stall' | 'hang' | 'slow' | Refusal;

/** In milliseconds. */
export const slowMs = 1500;

export interface Refusal {
  readonly status: number;
  readonly code: string;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: Buffer | string;
}

/** A store behind a server: what a request is, how it is answered, and how one is refused. */
export interface ServedStore {
  operationOf(request: IncomingMessage): Operation;
  answer(request: IncomingMessage, body: Buffer): Answer | Promise<Answer>;
  refusal(refusal: Refusal): Answer;
}

export interface FaultyServer {
  readonly endpoint: string;
  /** Faults of the next requests of an operation, in turn. */
  readonly faults: { readonly operation: Operation; readonly fault: StoreFaultOfTests }[];
  /** Requests of each operation so far. */
  readonly requests: ReadonlyMap<Operation, number>;
  /** Draws the faults of all other requests, by operation and path; by default there are none. */
  draw: (operation: Operation, path: string) => StoreFaultOfTests | undefined;
  /** Operations that are refused all the time. */
  readonly denied: Map<Operation, Refusal>;
  /** Connections that were made. */
  readonly connections: () => number;
  /** While it is gone, every connection breaks. */
  readonly goAway: (isGone: boolean) => void;
  readonly stop: () => Promise<void>;
}

/** Serves a store over HTTP on this machine, and injects faults. */
export async function startFaultyServer(store: ServedStore): Promise<FaultyServer> {
  const faults: FaultyServer['faults'] = [];
  const denied: FaultyServer['denied'] = new Map();
  const requests = new Map<Operation, number>();
  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const blocks: Buffer[] = [];
    for await (const block of request) blocks.push(block as Buffer);
    const operation = store.operationOf(request);
    requests.set(operation, (requests.get(operation) ?? 0) + 1);
    const index = faults.findIndex((each) => each.operation === operation);
    const fault = index < 0 ? served.draw(operation, request.url ?? '') : faults.splice(index, 1)[0]?.fault;
    if (fault === 'hang') return;
    if (fault === 'slow') await delay(slowMs);
    const refusal = typeof fault === 'object' ? fault : denied.get(operation);
    const answer = refusal === undefined ? await store.answer(request, Buffer.concat(blocks)) : store.refusal(refusal);
    if (fault === 'lost') response.destroy();
    else if (fault === 'cut') sendHalf(response, answer, () => response.destroy());
    else if (fault === 'stall') sendHalf(response, answer, () => undefined);
    else send(response, fault === 'half' ? halfOf(answer) : answer, request.method === 'HEAD');
  }

  const server = createServer((request, response) => {
    if (isGone) response.destroy();
    else handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  let connections = 0;
  let isGone = false;
  server.on('connection', (socket) => {
    connections += 1;
    if (isGone) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  const served: FaultyServer = {
    endpoint: `http://127.0.0.1:${port}`,
    faults,
    denied,
    requests,
    stop,
    draw: () => undefined,
    connections: () => connections,
    goAway: (whileGone) => {
      isGone = whileGone;
      if (isGone) server.closeAllConnections();
    },
  };
  return served;
}

function send(response: ServerResponse, { status, headers = {}, body = '' }: Answer, isHead: boolean): void {
  const hasBody = !isHead && status !== 204;
  response.writeHead(status, { ...(hasBody ? { 'content-length': Buffer.byteLength(body) } : {}), ...headers });
  response.end(body);
}

function halfOf({ body = '', ...answer }: Answer): Answer {
  return { ...answer, body: body.slice(0, body.length / 2) };
}

function sendHalf(response: ServerResponse, { status, headers = {}, body = '' }: Answer, then: () => void): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-length': bytes.length, ...headers });
  response.write(bytes.subarray(0, bytes.length / 2), then);
}
