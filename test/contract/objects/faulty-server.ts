import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Operation = 'PUT' | 'GET' | 'LOOK' | 'LIST' | 'DELETE' | 'TOKEN';

/**
 * What goes wrong with a request. `lost`: done, then the connection breaks. `cut`: half of the answer is sent. `hang`: no
 * answer comes.
 */
export type StoreFaultOfTests = 'lost' | 'cut' | 'hang' | Refusal;

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
  /** Operations that are refused all the time. */
  readonly denied: Map<Operation, Refusal>;
  /** Connections that were made. */
  readonly connections: () => number;
  readonly stop: () => Promise<void>;
}

/** Serves a store over HTTP on this machine, and injects faults. */
export async function startFaultyServer(store: ServedStore): Promise<FaultyServer> {
  const faults: FaultyServer['faults'] = [];
  const denied: FaultyServer['denied'] = new Map();

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const blocks: Buffer[] = [];
    for await (const block of request) blocks.push(block as Buffer);
    const operation = store.operationOf(request);
    const index = faults.findIndex((each) => each.operation === operation);
    const fault = index < 0 ? undefined : faults.splice(index, 1)[0]?.fault;
    if (fault === 'hang') return;
    const refusal = typeof fault === 'object' ? fault : denied.get(operation);
    const answer = refusal === undefined ? await store.answer(request, Buffer.concat(blocks)) : store.refusal(refusal);
    if (fault === 'lost') response.destroy();
    else if (fault === 'cut') sendHalf(response, answer);
    else send(response, answer, request.method === 'HEAD');
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  let connections = 0;
  server.on('connection', () => (connections += 1));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { endpoint: `http://127.0.0.1:${port}`, faults, denied, connections: () => connections, stop };
}

function send(response: ServerResponse, { status, headers = {}, body = '' }: Answer, isHead: boolean): void {
  const hasBody = !isHead && status !== 204;
  response.writeHead(status, { ...(hasBody ? { 'content-length': Buffer.byteLength(body) } : {}), ...headers });
  response.end(body);
}

function sendHalf(response: ServerResponse, { status, headers = {}, body = '' }: Answer): void {
  const bytes = Buffer.from(body);
  response.writeHead(status, { 'content-length': bytes.length, ...headers });
  response.write(bytes.subarray(0, bytes.length / 2), () => response.destroy());
}
