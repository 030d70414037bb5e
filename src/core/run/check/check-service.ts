import { type ReachedTls, reachService } from '../../client/reach-service.ts';
import { proxyFor, type ProxySettings } from '../../client/wire/proxy-settings.ts';
import type { Job } from '../../job/job-schema.ts';
import { tlsFor } from '../../job/tls-files.ts';
import { dayMs, utcDay } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { duration } from '../../../lib/format-text.ts';
import type { Fact } from './fact.ts';

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
