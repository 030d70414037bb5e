import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ServiceDialect } from '../../../src/core/client/dialects.ts';
import { createWire, type HttpClient } from '../../../src/core/client/wire/http-client.ts';

export interface SeenRequest {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** What a service sees of a request. */
export async function seenRequest(
  dialect: ServiceDialect,
  send: (wire: HttpClient) => Promise<unknown>,
  apiKey = 'k/1',
): Promise<SeenRequest> {
  let seen: SeenRequest | undefined;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += String(piece)));
    request.on('end', () => {
      seen = { url: request.url, headers: request.headers, body };
      response.end('{"jsonrpc":"2.0","result":null,"id":1}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const wire = createWire({ url: `http://127.0.0.1:${port}/base/`, apiKey, dialect, concurrency: 1, timeoutMs: 5000 });
  await send(wire).catch(() => undefined);
  await wire.close();
  if (seen === undefined) throw new Error('nothing came');
  return seen;
}
