import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { certificates } from '../../../support/certificates.ts';
import { answerBody, recordText } from './calls.ts';

export interface Forgetting {
  /** Of the requests on a used connection, the share that is lost. */
  readonly share: number;
  /** From this request of a connection on; the first is 1. */
  readonly from?: number;
  readonly by: 'RST' | 'FIN';
  /** Lost with the head of the request, or when all of it was read. */
  readonly at: 'head' | 'end';
  readonly secure?: boolean;
}

export interface ForgetfulServer {
  readonly url: string;
  readonly requests: () => number;
  readonly lost: () => number;
  readonly connections: () => number;
  /** Most requests with one JSON-RPC `id`. */
  readonly mostAttempts: () => number;
}

/** A balancer that forgets used connections: it ends them at their next request, without an answer. TLS ends without its notice. */
export async function forgetfulServer(forgetting: Forgetting): Promise<ForgetfulServer> {
  const { share, from = 2, by, at, secure = false } = forgetting;
  const attempts = new Map<number, number>();
  const served = new Map<number, number>();
  const sockets = new Map<number, Socket>();
  let [requests, lost, connections, due] = [0, 0, 0, 0];
  const isDue = (port: number): boolean => {
    const nth = (served.get(port) ?? 0) + 1;
    served.set(port, nth);
    if (nth < from) return false;
    due += share;
    if (due < 0.999) return false;
    due -= 1;
    return true;
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests += 1;
    const port = request.socket.remotePort ?? 0;
    const isLost = isDue(port);
    const lose = (): void => {
      lost += 1;
      if (by === 'RST') sockets.get(port)?.resetAndDestroy();
      else sockets.get(port)?.destroy();
    };
    if (isLost && at === 'head') {
      lose();
      return;
    }
    const { id, params } = JSON.parse(await bodyOf(request)) as { id: number; params: [string[]] };
    attempts.set(id, (attempts.get(id) ?? 0) + 1);
    if (isLost) lose();
    else response.end(answerBody(params[0].map(recordText), id));
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    handle(request, response).catch(() => undefined);
  };
  const { key, valid: cert } = certificates;
  const server = secure ? createTlsServer({ key, cert }, onRequest) : createServer(onRequest);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.set(socket.remotePort ?? 0, socket);
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return {
    url: `http${secure ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: () => requests,
    lost: () => lost,
    connections: () => connections,
    mostAttempts: () => Math.max(...attempts.values()),
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString('utf8');
}
