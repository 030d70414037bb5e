import type { CreditLedger } from '../client/credit-ledger.ts';
import type { HttpClient, HttpClientOptions } from '../client/http-client.ts';
import type { ProxySettings } from '../client/proxy-settings.ts';
import type { Clock } from '../lib/clock.ts';
import type { FileStore } from '../store/file-store.ts';
import type { RunListener } from './run-events.ts';
import type { StartThread } from './threads/offers.ts';

/** Everything an export does to the world, as arguments. */
export interface ExportContext {
  readonly clock: Clock;
  /** Uniform in [0, 1): the jitter of retries. */
  readonly random: () => number;
  readonly files: FileStore;
  /** Base address and key of the service. Kept out of everything that is written. */
  readonly service: { readonly url: string; readonly apiKey: string };
  readonly proxy: ProxySettings | undefined;
  /** What exchanges calls for answers; HTTP unless told. */
  readonly openWire?: (options: HttpClientOptions) => HttpClient;
  /** Where credits are booked. */
  readonly ledger: CreditLedger;
  /** Ids from `-`. When the run is stopped before its end, a stream is destroyed. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Aborted: no new call begins, answers in flight are kept. */
  readonly stop: AbortSignal;
  /** Aborted: exchanges in flight end at once. */
  readonly abort: AbortSignal;
  /** How many threads may be used, and what starts one; absent: all is made on this one. */
  readonly threads?: { readonly most: number; readonly start: StartThread };
  readonly listener: RunListener;
  /** Of asset-export: the manifest names it as `program.version`. */
  readonly version: string;
}
