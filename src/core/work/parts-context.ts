import type { CreditLedger } from '../client/ledger/credit-ledger.ts';
import type { Brake } from '../client/policies/brake.ts';
import type { SharedPace } from '../client/policies/shared-pace.ts';
import type { HttpClient, HttpClientOptions } from '../client/wire/http-client.ts';
import type { ServiceAddressOptions } from '../client/wire/service-address.ts';
import type { ProxySettings } from '../client/wire/proxy-settings.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Disk } from '../../places/files/disk.ts';
import type { RunListener } from './run-events.ts';
import type { Thread, ThreadSettings } from './threads/offers.ts';

/** Everything that making parts does to the world, as arguments. */
export interface PartsContext {
  readonly clock: Clock;
  /** Uniform in [0, 1): the jitter of retries. */
  readonly random: () => number;
  readonly files: Disk;
  /** Base address and key of the service. Kept out of everything that is written. */
  readonly service: ServiceAddressOptions;
  readonly proxy: ProxySettings | undefined;
  /** The connection to the service; HTTP by default. */
  readonly openWire?: (options: HttpClientOptions) => HttpClient;
  /** Where credits are booked. */
  readonly ledger: CreditLedger;
  /** The rate limit that this process shares with others; absent: it has its own. */
  readonly pace?: SharedPace | undefined;
  /** Counts the calls of a run that has several exports. Absent: the run makes its own from `budget.overrun`. */
  readonly brake?: Brake | undefined;
  /** Aborted: no new call begins, answers in flight are kept. */
  readonly stop: AbortSignal;
  /**
   * Aborted when the time of grace is over: exchanges in flight end at once, nothing is repeated, and stores and databases that do not answer
   * are given up a second later.
   */
  readonly abort: AbortSignal;
  /** The service has answered in this process, so that silence is an outage. */
  readonly hasAnswered?: boolean | undefined;
  /** How many threads may be used, and what starts one; absent: all is made on this one. */
  readonly threads?: { readonly most: number; readonly start: (settings: ThreadSettings) => Thread };
  readonly listener: RunListener;
}
