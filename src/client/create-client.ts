import { setMaxListeners } from 'node:events';
import { type Clock, systemClock } from '../lib/clock.ts';
import type { AssetCall, AssetClient } from './asset-client.ts';
import type { ClientListener } from './client-events.ts';
import type { CreditLedger } from './credit-ledger.ts';
import { createHttpClient, type HttpClient, type HttpClientOptions } from './http-client.ts';
import type { ProxySettings } from './proxy-settings.ts';
import { serviceAddress } from './service-address.ts';
import { withBudget } from './with-budget.ts';
import { withConcurrency } from './with-concurrency.ts';
import { type AnswerJournal, withJournal } from './with-journal.ts';
import { withRetry } from './with-retry.ts';
import { withSizeGuard } from './with-size-guard.ts';

export interface ClientOptions {
  /** Base address, without `/v3/<key>`. */
  readonly url: string;
  readonly apiKey: string;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly retries: number;
  /** Longest answer to hold, decoded; default 64 MiB, six times what known services send at most. */
  readonly maxAnswerBytes?: number | undefined;
  readonly budget: ClientBudget;
  /** Stays open: whoever opened it closes it after the client. */
  readonly ledger: CreditLedger;
  readonly journal: AnswerJournal;
  /** Most ids a call that an earlier run of this export found out. */
  readonly initialCap?: number | undefined;
  readonly proxy?: ProxySettings | undefined;
  /** No attempt begins after it; exchanges in flight go on, and their answers are journaled. */
  readonly stop?: AbortSignal | undefined;
  /** Kills the exchanges in flight. */
  readonly abort?: AbortSignal | undefined;
  /** Awaited before each attempt is sent. */
  readonly onCall?: ((call: AssetCall) => Promise<void>) | undefined;
  readonly listener?: ClientListener | undefined;
  readonly clock?: Clock | undefined;
  /** A number from 0 up to 1, as Math.random. */
  readonly random?: (() => number) | undefined;
  /** What exchanges calls for answers; HTTP unless told. */
  readonly openWire?: ((options: HttpClientOptions) => HttpClient) | undefined;
}

/** Limits in credits. */
export interface ClientBudget {
  readonly creditsPerCall: number;
  readonly creditsPerRun?: number | undefined;
  readonly creditsPerDay?: number | undefined;
  readonly creditsPerSecond?: number | undefined;
  readonly whenSpent: 'stop' | 'wait';
  /** HTTP statuses that are known to cost nothing. */
  readonly freeStatuses?: readonly number[] | undefined;
}

export interface CreatedClient {
  readonly client: AssetClient;
  /** Most ids a call that the service has not refused; Infinity as long as it refused none. */
  cap(): number;
  /** How many calls at once are allowed now. */
  concurrency(): number;
  /** Resolves when nothing is in flight and the connections are closed. */
  close(): Promise<void>;
}

const defaultMaxAnswerBytes = 64 * 1024 * 1024;

/**
 * The one place where policies are put around the wire, from the inside out:
 * - budget next to the wire, as each attempt is paid, retries too;
 * - concurrency around it, so that no more calls are booked than are sent at once;
 * - retry around that, so that a call that waits for its next attempt holds no slot;
 * - the size guard around retry, as it judges only what is definite;
 * - the journal outermost, so that an answer that is kept costs no slot, no wait and no credit.
 * @throws {ExportError} `usage` when the address, the key or the budget cannot be right.
 */
export function createClient(options: ClientOptions): CreatedClient {
  const { concurrency, retries, stop, listener, clock = systemClock, random = Math.random } = options;
  // Every call that waits or flies listens to them: `concurrency` bounds their number, not Node's warning at ten.
  for (const signal of [stop, options.abort]) if (signal !== undefined) setMaxListeners(0, signal);
  const http = (options.openWire ?? createHttpClient)({
    ...options,
    clock,
    address: serviceAddress(options),
    connections: concurrency,
    maxAnswerBytes: options.maxAnswerBytes ?? defaultMaxAnswerBytes,
  });
  const paid = withBudget(http, { ...options.budget, ...options, clock });
  const slots = withConcurrency(paid, { concurrency, maxPauses: retries, clock, random, stop, listener });
  const steady = withRetry(slots, { retries, clock, random, stop, listener });
  const guard = withSizeGuard(steady, options);
  return {
    client: withJournal(guard, { ...options, onSizeRefused: guard.learn }),
    cap: () => guard.cap(),
    concurrency: () => slots.limit(),
    close: async () => {
      await slots.close();
      await http.close();
    },
  };
}
