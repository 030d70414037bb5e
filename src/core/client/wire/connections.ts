import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Socket } from 'node:net';
import type { buildConnector as BuildConnector, Dispatcher, Pool as PoolType } from 'undici';
import anyBuildConnector from 'undici/lib/core/connect.js';
import AnyPool from 'undici/lib/dispatcher/pool.js';
import type { Proxy } from './proxy-settings.ts';
import type { TlsMaterial } from './service-address.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { addressAttemptMs } from '../../../lib/network.ts';
import { isOfCertificate } from './classify-error.ts';

// The index of undici has the same. It also loads fetch, caches and mocks: 40 ms of a start.
const Pool = AnyPool as unknown as typeof PoolType;

export type { Dispatcher };
type Target = BuildConnector.Options;

/** Connects, and gives the socket at once that will be connected; undici's types leave that out. */
type Dial = (...args: Parameters<BuildConnector.connector>) => Socket;

const buildConnector = anyBuildConnector as unknown as (options: BuildConnector.BuildOptions) => Dial;

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

export function openConnections(options: {
  readonly origin: string;
  /** Most connections at once. */
  readonly connections: number;
  /** Deadline of an exchange. */
  readonly timeoutMs: number;
  readonly proxy: Proxy | undefined;
  readonly tls: TlsMaterial | undefined;
}): Connections {
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

interface ConnectOptions {
  /** Limit of a connect: TCP, the tunnel of a proxy, and TLS, together. */
  readonly limitMs: number;
  readonly proxy: Proxy | undefined;
  readonly tls: TlsMaterial | undefined;
  /** Aborted: connections in the making end at once. */
  readonly ended: AbortSignal;
}

/** How undici opens what it sends requests over. It is called back in time, whatever the other side does. */
export function connector(options: ConnectOptions): BuildConnector.connector {
  const { proxy, tls, limitMs } = options;
  // A second address has its time too.
  const autoSelectFamilyAttemptTimeout = Math.min(addressAttemptMs, limitMs / 2);
  const dial = buildConnector({ timeout: 0, autoSelectFamilyAttemptTimeout, ...tls });
  const dialProxy = buildConnector({ timeout: 0, autoSelectFamilyAttemptTimeout });
  const open =
    proxy === undefined
      ? (target: Target, making: Making) => making.dial(dial, target, 'no connection')
      : async (target: Target, making: Making) => {
          const tunnel = await tunnelTo(target, proxy, dialProxy, making);
          if (target.protocol !== 'https:') return tunnel;
          return making.dial(dial, { ...target, httpSocket: tunnel }, 'no TLS handshake');
        };
  return (target, callback) => {
    const making = new Making(options);
    open(target, making).then(
      (socket) => {
        making.end();
        // undici would connect to a socket that is closed again, and again.
        if (socket.destroyed) callback(new Error('the connection was closed at once'), null);
        else callback(null, socket);
      },
      (error: unknown) => {
        making.end();
        making.destroy();
        callback(error instanceof Error ? error : new Error(String(error)), null);
      },
    );
  };
}

/** Plain HTTP has a tunnel too: so the proxy is told no path, which holds the key. */
async function tunnelTo(target: Target, proxy: Proxy, dialProxy: Dial, making: Making): Promise<Socket> {
  const { hostname } = proxy;
  const protocol = proxy.isSecure ? 'https:' : 'http:';
  const at: Target = { protocol, hostname, host: hostname, port: String(proxy.port) };
  const socket = await making.dial(dialProxy, at, 'no connection to the proxy').catch((error: unknown) => {
    throw isOfCertificate(error) ? untrustedProxy(proxy, error) : error;
  });
  const port = target.port === '' ? (target.protocol === 'https:' ? 443 : 80) : Number(target.port);
  if (proxy.kind === 'socks') {
    making.waitFor('no answer of SOCKS');
    const { openSocksTunnel } = await import('./http-tunnel.ts');
    await openSocksTunnel(socket, proxy, { hostname: target.hostname, port });
  } else {
    making.waitFor('no answer to CONNECT');
    const { openHttpTunnel } = await import('./http-tunnel.ts');
    const host = target.hostname.includes(':') ? `[${target.hostname}]` : target.hostname;
    await openHttpTunnel(socket, proxy, `${host}:${port}`);
  }
  return socket;
}

function untrustedProxy({ variable }: Proxy, error: Error): ExportError {
  return new ExportError('notTrusted', `The certificate of the proxy of ${variable} is not valid: ${error.message}.`, {
    todo: `Nothing was sent. Check ${variable}. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file. Then run the same command again.`,
    unsent: true,
  });
}

/** A connection in the making: its sockets, and what it waits for. Sockets live in real time, so this is the time of the system. */
class Making {
  readonly #sockets: Socket[] = [];
  readonly #ended: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #onEnded = (): void => {
    this.#fail(new Error('the client was closed'));
  };
  #waitsFor = '';

  constructor({ limitMs, ended }: ConnectOptions) {
    this.#ended = ended;
    this.#timer = setTimeout(() => {
      const tried = this.#sockets.at(-1)?.autoSelectFamilyAttemptedAddresses ?? [];
      const to = tried.length === 0 ? '' : ` (tried ${tried.join(', ')})`;
      this.#fail(new Error(`${this.#waitsFor} within ${limitMs / 1000} s${to}`));
    }, limitMs);
    ended.addEventListener('abort', this.#onEnded, { once: true });
  }

  /** @param missing what there is not, if it takes too long */
  dial(dial: Dial, target: Target, missing: string): Promise<Socket> {
    this.waitFor(missing);
    return new Promise((resolve, reject) => {
      const socket = dial(target, (error, connected) => {
        if (error === null) resolve(connected);
        else reject(error);
      });
      this.#sockets.push(socket);
      if (this.#ended.aborted) this.#onEnded();
    });
  }

  waitFor(missing: string): void {
    this.#waitsFor = missing;
  }

  /** It stands, or failed. */
  end(): void {
    clearTimeout(this.#timer);
    this.#ended.removeEventListener('abort', this.#onEnded);
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #fail(error: Error): void {
    // Who waits for the last one passes the error on.
    this.#sockets.at(-1)?.destroy(error);
  }
}
