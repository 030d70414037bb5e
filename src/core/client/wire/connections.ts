import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { connector } from './connect.ts';
import type { Proxy } from './proxy-settings.ts';
import type { TlsMaterial } from './service-address.ts';
import { type Dispatcher, Pool } from './undici-pool.ts';

export interface ConnectionsOptions {
  readonly origin: string;
  /** Most connections at once. */
  readonly connections: number;
  /** Deadline of an exchange. */
  readonly timeoutMs: number;
  readonly proxy: Proxy | undefined;
  readonly tls: TlsMaterial | undefined;
}

/** Connections to the service, kept open between exchanges. */
export interface Connections {
  readonly dispatcher: Dispatcher;
  /** Ends idle connections at once, others after their answer, and all after a second. */
  close(): Promise<void>;
  /** Ends all connections now, those in the making too. */
  destroy(): void;
}

/** Longest connect. A shorter deadline leaves half of itself for the answer. */
const longestConnectMs = 10_000;

/** How long the end of a client waits for its sockets. */
const longestCloseMs = 1000;

export function openConnections(options: ConnectionsOptions): Connections {
  const { origin, connections, timeoutMs, proxy, tls } = options;
  const ended = new AbortController();
  // Every connection in the making listens.
  setMaxListeners(0, ended.signal);
  const limitMs = Math.min(longestConnectMs, timeoutMs / 2);
  const dispatcher = new Pool(origin, {
    connections,
    // The deadline of the whole exchange replaces undici's timeouts, which a slow drip of bytes never reaches.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connector({ limitMs, proxy, tls, ended: ended.signal }),
  });
  const destroy = async (): Promise<void> => {
    ended.abort();
    await dispatcher.destroy();
  };
  return {
    dispatcher,
    close: async () => {
      const closed = new AbortController();
      const late = delay(longestCloseMs, undefined, { signal: closed.signal }).catch(() => undefined);
      // What is destroyed already cannot be closed.
      await Promise.race([dispatcher.close().catch(() => undefined), late]);
      closed.abort();
      await destroy();
    },
    destroy: () => void destroy(),
  };
}
