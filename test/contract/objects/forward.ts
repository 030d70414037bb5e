import { type IncomingHttpHeaders, type IncomingMessage, request as send } from 'node:http';
import type { Answer } from './faulty-server.ts';

/** Sends a request on, as it is, to a server on this machine. */
export function forward(port: number, { url = '/', method = 'GET', headers }: IncomingMessage, body: Buffer) {
  return new Promise<Answer>((resolve, reject) => {
    const sent = send({ host: '127.0.0.1', port, path: url, method, headers }, (response) => {
      const blocks: Buffer[] = [];
      response.on('data', (block: Buffer) => blocks.push(block)).on('error', reject);
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 500, headers: kept(response.headers), body: Buffer.concat(blocks) });
      });
    });
    sent.on('error', reject).end(body);
  });
}

/** The headers that are of the answer, not of the connection. */
function kept(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  const entries = Object.entries(headers).filter(([name]) => !/^(connection|keep-alive|transfer-encoding)$/.test(name));
  return Object.fromEntries(entries.map(([name, value]) => [name, value ?? '']));
}
