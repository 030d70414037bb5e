import type { Job } from '../../job/job-schema.ts';
import { duration, plural } from '../../../lib/format-text.ts';
import { type GetContext, getAssets } from '../get-assets.ts';
import { proxyFor, type ProxySettings, type Proxy } from '../../client/wire/proxy-settings.ts';
import { tlsFor } from '../../job/tls-files.ts';
import { dayMs, utcDay } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { unreached, untrusted } from '../../client/policies/service-report.ts';
import { connector } from '../../client/wire/connections.ts';
import { networkFailure } from '../../client/wire/classify-error.ts';
import type { TlsMaterial } from '../../client/wire/service-address.ts';

/** What was seen, and what is not as it should be although a run can begin. */
export interface Fact {
  readonly fact: string;
  readonly warnings?: readonly string[];
}

/** Requests one id, which costs one call where the service answers. @throws {ExportError} as a run does */
export async function checkCall(job: Job, id: string | undefined, context: GetContext): Promise<Fact> {
  if (id === undefined) return { fact: 'nothing was requested', warnings: ['no id was read'] };
  const { clock } = context;
  const beganMs = clock.monotonic();
  const fates = getAssets({ ids: [id], job }, context);
  const { value } = await fates.next();
  await fates.return();
  if (value === undefined) throw new Error('an id has a fate');
  const { lookup } = value;
  const fact = `${id} was requested: answered in ${duration(clock.monotonic() - beganMs)}, ${plural(job.budget.creditsPerCall, 'credit')}`;
  return { fact, warnings: lookup.kind === 'found' ? [] : [`it is ${lookup.kind}: ${lookup.reason}`] };
}

/** Another clock, and how far ours is ahead of it. */
export interface OtherClock {
  readonly aheadMs: number;
  /** Whose it is. */
  readonly of: string;
}

/** A difference that is worth a warning. */
const mostMs = 5 * 60_000;

/** Compares the clock with others; the one that differs most is named. */
export function checkClock(others: readonly OtherClock[]): Fact {
  const [most] = [...others].sort((a, b) => Math.abs(b.aheadMs) - Math.abs(a.aheadMs));
  if (most === undefined) return { fact: 'not compared: there is neither a bucket nor a database' };
  const { aheadMs, of } = most;
  if (Math.abs(aheadMs) <= mostMs) return { fact: `within 5 minutes of that of ${of}` };
  const fact = `${duration(Math.abs(aheadMs))} ${aheadMs < 0 ? 'behind' : 'ahead of'} that of ${of}`;
  return { fact, warnings: ['set it: days of budgets and names of nights begin at midnight UTC'] };
}

/** The certificate of a service that was reached over TLS. */
interface ReachedTls {
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
export async function reachService({
  origin,
  proxy,
  tls,
}: {
  readonly origin: string;
  readonly proxy: Proxy | undefined;
  readonly tls: TlsMaterial | undefined;
}): Promise<ReachedTls | undefined> {
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

/** What a connection to the service showed. */
export interface CheckedAddress extends Fact {
  readonly tls: ReachedTls | undefined;
  /** Why the certificate of the service, of its proxy, or our own is not accepted. */
  readonly untrusted: ExportError | undefined;
}

/** Connects to the service of a job, and sends no request. @throws {ExportError} `usage`, `unavailable` */
export async function checkAddress(
  { service: { url, tls } }: Job,
  settings: ProxySettings | undefined,
): Promise<CheckedAddress> {
  const proxy = proxyFor(url, settings);
  const material = tlsFor(url, tls);
  const fact = `reached${proxy === undefined ? '' : ` through the proxy of ${proxy.variable}`}; nothing was sent`;
  try {
    const reached = await reachService({ origin: new URL(url.trim()).origin, proxy, tls: material });
    return { fact, tls: reached, untrusted: undefined };
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit !== 'notTrusted') throw error;
    return { fact, tls: undefined, untrusted: error };
  }
}

/** A certificate that ends sooner is worth a warning. */
const soonMs = 14 * dayMs;

/** @throws {ExportError} `notTrusted` */
export function checkCertificate({ tls, untrusted }: CheckedAddress, nowMs: number): Fact {
  if (untrusted !== undefined) throw untrusted;
  if (tls === undefined) return { fact: 'none: the address is not https://' };
  const leftMs = tls.validUntilMs - nowMs;
  const warnings = leftMs > soonMs ? [] : [`it ends in ${duration(leftMs)}`];
  return { fact: `valid until ${utcDay(tls.validUntilMs)}, ${tls.protocol}`, warnings };
}
