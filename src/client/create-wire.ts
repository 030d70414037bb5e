import { type Clock, systemClock } from '../lib/clock.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from './http-client.ts';
import { serviceAddress } from './service-address.ts';

export interface WireOptions extends Pick<HttpClientOptions, 'timeoutMs' | 'proxy' | 'abort' | 'listener'> {
  /** Base address, without `/v3/<key>`. */
  readonly url: string;
  readonly apiKey: string;
  readonly concurrency: number;
  /** Longest answer to hold, decoded; default 64 MiB, six times what known services send at most. */
  readonly maxAnswerBytes?: number | undefined;
  readonly clock?: Clock | undefined;
  /** What exchanges calls for answers; HTTP unless told. */
  readonly openWire?: ((options: HttpClientOptions) => HttpClient) | undefined;
}

const defaultMaxAnswerBytes = 64 * 1024 * 1024;

/** The wire without any policy. @throws {ExportError} `usage` when the address or the key cannot be right. */
export function createWire(options: WireOptions): HttpClient {
  return (options.openWire ?? createHttpClient)({
    ...options,
    clock: options.clock ?? systemClock,
    address: serviceAddress(options),
    connections: options.concurrency,
    maxAnswerBytes: options.maxAnswerBytes ?? defaultMaxAnswerBytes,
  });
}
