import { request } from 'node:http';
import type { Socket } from 'node:net';
import { ExportError } from '../../../lib/export-error.ts';
import type { Proxy } from './proxy-settings.ts';

/**
 * Makes a socket to an HTTP proxy the tunnel to a host (CONNECT; RFC 9110, 9.3.6).
 * @param authority `host:port`
 * @throws {ExportError} `unavailable` when the proxy refuses this user or this host; other errors may pass
 */
export function openHttpTunnel(socket: Socket, proxy: Proxy, authority: string): Promise<void> {
  const { user, password } = proxy;
  const credentials = Buffer.from(`${user}:${password}`).toString('base64');
  return new Promise((resolve, reject) => {
    request({
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        connection: 'keep-alive',
        'proxy-connection': 'keep-alive',
        ...(user === '' && password === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` }),
      },
      createConnection: () => socket,
    })
      // Node reports every status here, as no body follows an answer to CONNECT that is good.
      .on('connect', ({ statusCode: status = 0 }, _socket, head) => {
        if (head.length > 0) socket.unshift(head);
        if (status >= 200 && status < 300) resolve();
        else if (status === 407 || status === 403) reject(proxyRefused(proxy, `HTTP ${status}`, status));
        else reject(new Error(`the proxy answered HTTP ${status} to CONNECT`));
      })
      .on('error', reject)
      .end();
  });
}

/**
 * A proxy that wants other credentials or does not let this host through refuses every call: nothing is tried again.
 * @param how what the proxy answered
 * @param status in HTTP's terms
 */
export function proxyRefused({ variable, user }: Proxy, how: string, status: number): ExportError {
  const direct = `or name the host of the service in NO_PROXY to reach it without a proxy`;
  const credentials =
    user === ''
      ? `Put the user and password of the proxy into ${variable} (http://user:password@host:port)`
      : `Check the user and password in ${variable}`;
  const allow = 'Have the proxy allow the host and port of the service';
  return new ExportError('unavailable', `The proxy of ${variable} refused the connection to the service (${how}).`, {
    todo: `Nothing was sent. ${status === 407 ? credentials : allow}, ${direct}. Then run the same command again.`,
    why: { kind: 'refused', status },
    unsent: true,
  });
}
