import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came. */
export interface RecordedRequest {
  readonly target: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RecordedService {
  readonly url: string;
  /** In the order in which they came. */
  readonly requests: RecordedRequest[];
  close(): Promise<void>;
}

/** Stands before a service, keeps every request, and passes it on as it is. */
export async function recordRequests(service: { readonly url: string }): Promise<RecordedService> {
  const requests: RecordedRequest[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const { url: target = '', headers } = request;
      const body = Buffer.concat(pieces).toString();
      requests.push({ target, headers, body });
      void fetch(`${service.url}${target}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
        .then(async (answer) => {
          response.statusCode = answer.status;
          response.end(Buffer.from(await answer.arrayBuffer()));
        })
        // The client is gone, or the service.
        .catch(() => response.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
