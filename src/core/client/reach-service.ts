import { once } from 'node:events';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { ExportError } from '../../lib/export-error.ts';
import { unreached, untrusted } from './policies/service-report.ts';
import { connector } from './wire/connections.ts';
import { networkFailure } from './wire/classify-error.ts';
import type { Proxy } from './wire/proxy-settings.ts';
import type { TlsMaterial } from './wire/service-address.ts';

export interface Reaching {
  readonly origin: string;
  readonly proxy: Proxy | undefined;
  readonly tls: TlsMaterial | undefined;
}

/** The certificate of a service that was reached over TLS. */
export interface ReachedTls {
  readonly protocol: string;
  readonly validUntilMs: number;
}

/** Limit of the connect, in milliseconds. */
const limitMs = 10_000;

/** How long the other side may take to refuse our certificate, in milliseconds. */
const refusalMs = 1000;

/**
 * Connects to the service as a call does, and sends no request.
 * @returns undefined without TLS
 * @throws {ExportError} `unavailable`; `notTrusted` where it was reached, and a certificate is not accepted
 */
export async function reachService({ origin, proxy, tls }: Reaching): Promise<ReachedTls | undefined> {
  const ended = new AbortController();
  const way = proxy === undefined ? '' : ` through the proxy of ${proxy.variable}`;
  const { protocol, hostname, host, port } = new URL(origin);
  const target = { protocol, hostname: hostname.replace(/^\[|\]$/g, ''), host, port };
  try {
    const socket = await new Promise<Socket>((resolve, reject) => {
      connector({ limitMs, proxy, tls, ended: ended.signal })(target, (error, connected) => {
        if (error === null) resolve(connected);
        else reject(error);
      });
    });
    try {
      return socket instanceof TLSSocket ? await settledTls(socket) : undefined;
    } finally {
      socket.destroy();
    }
  } catch (error) {
    if (error instanceof ExportError) throw error;
    const failure = networkFailure(error, { scrub: (text) => text, sent: false, way });
    if (failure instanceof ExportError) throw failure;
    if (failure.failure === 'untrusted') throw untrusted(failure);
    throw unreached(failure);
  }
}

/** With TLS 1.3 a connection stands before the other side has looked at our certificate: the tickets of a session follow if it is accepted. */
async function settledTls(socket: TLSSocket): Promise<ReachedTls> {
  const protocol = socket.getProtocol() ?? 'TLS';
  const validUntilMs = Date.parse(socket.getPeerCertificate().valid_to);
  if (protocol === 'TLSv1.3') {
    const signal = AbortSignal.timeout(refusalMs);
    const refused = once(socket, 'close', { signal }).then(() => {
      throw new Error('the service closed the connection');
    });
    await Promise.race([once(socket, 'session', { signal }), refused]).catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
    refused.catch(() => undefined);
  }
  return { protocol, validUntilMs };
}
