import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RoughServer {
  readonly url: string;
  readonly port: number;
  readonly seen: readonly SeenRequest[];
  /** Connections that were ever made. */
  connections(): number;
  /** Resolves when the n-th request (from 1) has been read whole. */
  received(n: number): Promise<void>;
  close(): Promise<void>;
}

export type Respond = (response: ServerResponse, request: SeenRequest, n: number) => void | Promise<void>;

/**
 * A server on loopback that answers, or not, as the test says; it goes when the test ends.
 * @param whenOver of a test that runs beside others: takes the function that closes the server
 */
export async function startRoughServer(
  respond: Respond,
  whenOver: (close: () => Promise<void>) => void = onTestFinished,
): Promise<RoughServer> {
  const seen: SeenRequest[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    void readRequest(request).then(async (read) => {
      const n = seen.push(read);
      server.emit('seen');
      await respond(response, read, n);
    });
  });
  server.on('connection', () => {
    connections += 1;
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = async (): Promise<void> => {
    if (!server.listening) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  };
  whenOver(close);
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    seen,
    connections: () => connections,
    received: async (n) => {
      while (seen.length < n) await once(server, 'seen');
    },
    close,
  };
}

async function readRequest(request: IncomingMessage): Promise<SeenRequest> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const { method = '', url = '', headers } = request;
  return { method, url, headers, body: Buffer.concat(pieces).toString('utf8') };
}

export interface Reply {
  /** Default 200. */
  readonly status?: number;
  readonly body: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

export function reply(response: ServerResponse, { status = 200, body, headers = {} }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(body);
}
