import type { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { HttpClientOptions } from '../../../../src/core/client/wire/http-client.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { ExportError } from '../../../../src/lib/export-error.ts';
import { blackHole, rawServer, socksServer } from '../support/bad-proxies.ts';
import { failureOf, httpClient, pairCall } from '../support/http-exchange.ts';
import { startRoughServer } from '../support/rough-server.ts';
import { startStopwatch } from '../../../support/stopwatch.ts';

const timeoutMs = 400;
/** What a busy machine may add. */
const slackMs = 1000;

interface Lost {
  readonly url: string;
  readonly proxy?: HttpClientOptions['proxy'];
}

const through = (proxy: string, scheme = 'https'): Lost => ({
  url: `${scheme}://service.example`,
  proxy: { http: proxy, https: proxy, except: '' },
});

/** Where a connect hangs, and how it is reached. */
const hangs: readonly (readonly [string, () => Promise<Lost>, RegExp])[] = [
  ['a listener whose queue is full', async () => ({ url: `http://${await blackHole()}` }), /no connection/],
  ['the same, with TLS', async () => ({ url: `https://${await blackHole()}` }), /no connection/],
  ['a server that does not shake hands', async () => ({ url: `https://${(await rawServer()).at}` }), /no connection/],
  ['a proxy whose queue is full', async () => through(`http://${await blackHole()}`), /no connection to the proxy/],
  ['a silent proxy', async () => through(`http://${(await rawServer()).at}`), /no answer to CONNECT/],
  [
    'a silent proxy, for plain HTTP',
    async () => through(`http://${(await rawServer()).at}`, 'http'),
    /no answer to CONNECT/,
  ],
  ['a silent proxy with TLS', async () => through(`https://${(await rawServer()).at}`), /no connection to the proxy/],
  ['a silent SOCKS server', async () => through(`socks5://${(await socksServer()).at}`), /no answer of SOCKS/],
  [
    'a SOCKS server that falls silent',
    async () => through(`socks5://${(await socksServer([5, 0])).at}`),
    /no answer of SOCKS/,
  ],
];

async function timed<T>(work: Promise<T>): Promise<readonly [T, number]> {
  const ms = startStopwatch();
  const result = await work;
  return [result, ms()];
}

describe('a connect that hangs', () => {
  it.each(hangs)('ends within half of the deadline, unsent, and leaves nothing open: %s', async (_, lost, words) => {
    const { url, proxy } = await lost();
    const client = httpClient(url, { proxy, timeoutMs, clock: systemClock });
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const [error, ms] = await timed(failureOf(client.ask(pairCall)));
      expect(error).toMatchObject({ failure: 'transport', unsent: true });
      expect(error.message).toMatch(words);
      expect(error.message).toMatch(/ within 0\.2 s$/);
      if (proxy !== undefined) expect(error.message).toContain('through the proxy of HTTP');
      expect(ms).toBeLessThan(timeoutMs / 2 + slackMs);
    }
    const [, closingMs] = await timed(client.close());
    expect(closingMs).toBeLessThan(slackMs);
  });

  // Promise, Nothing misread: An exchange ends at its deadline, whatever the other side does
  it('ends every call by the deadline, when more wait than connections may be open', async () => {
    const proxy = await rawServer();
    const client = httpClient('https://service.example', {
      proxy: through(`http://${proxy.at}`).proxy,
      timeoutMs,
      clock: systemClock,
      connections: 2,
    });
    const calls = Array.from({ length: 7 }, () => failureOf(client.ask(pairCall)));
    const [errors, ms] = await timed(Promise.all(calls));
    for (const error of errors) expect(error).toMatchObject({ failure: 'transport', unsent: true });
    expect(ms).toBeLessThan(timeoutMs + slackMs);
    expect(proxy.heard()).not.toContain('POST');
  });
});

describe('the end of a client', () => {
  it('ends a tunnel in the making at once when all is aborted, and says that nothing was sent', async () => {
    const proxy = await rawServer();
    const abort = new AbortController();
    const options = { proxy: through(`http://${proxy.at}`).proxy, clock: systemClock, abort: abort.signal };
    const work = failureOf(httpClient('https://service.example', options).ask(pairCall));
    while (proxy.heard() === '') await new Promise(setImmediate);
    abort.abort(new ExportError('terminated', 'stopped by SIGTERM', { todo: 'Run it again.' }));
    const [error, ms] = await timed(work);
    expect(error).toMatchObject({ exit: 'terminated', todo: 'Run it again.', facts: { sent: false } });
    expect(ms).toBeLessThan(slackMs);
    while (proxy.open() > 0) await new Promise(setImmediate);
  });

  it('waits a second for an answer, and no longer', async () => {
    const silent = await startRoughServer(() => undefined);
    const client = httpClient(silent.url, { clock: systemClock });
    const work = failureOf(client.ask(pairCall));
    await silent.received(1);
    const beganMs = performance.now();
    const [, ms] = await timed(client.close());
    expect(performance.now() - beganMs).toBeGreaterThan(900);
    expect(ms).toBeLessThan(1000 + slackMs);
    expect(await work).toMatchObject({ failure: 'transport', unsent: false });
  });

  it('does not wait for a connect that hangs', async () => {
    const proxy = await rawServer();
    const options = { proxy: through(`http://${proxy.at}`).proxy, clock: systemClock };
    const client = httpClient('https://service.example', options);
    const work = failureOf(client.ask(pairCall));
    while (proxy.heard() === '') await new Promise(setImmediate);
    const [, ms] = await timed(client.close());
    expect(ms).toBeLessThan(1000 + slackMs);
    expect(await work).toMatchObject({ failure: 'transport', unsent: true });
    while (proxy.open() > 0) await new Promise(setImmediate);
  });
});

describe('a request that may have left', () => {
  it.each([
    ['hangs', () => undefined, 'no complete answer within 0.4 s through the proxy of HTTP_PROXY'],
    ['is reset', (socket: Socket) => socket.resetAndDestroy(), 'connection failed through the proxy of HTTP_PROXY: '],
    // Promise, Nothing overspent: A request of which a byte may have left is booked
  ])('is never unsent, when it %s behind a proxy', async (_, serve, words) => {
    const proxy = await rawServer((socket) => {
      socket.once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.once('data', () => {
          serve(socket);
        });
      });
    });
    const options = { proxy: through(`http://${proxy.at}`).proxy, timeoutMs, clock: systemClock };
    const error = await failureOf(httpClient('http://service.example', options).ask(pairCall));
    expect(error).toMatchObject({ failure: 'transport', unsent: false });
    expect(error.message).toContain(words);
    expect(proxy.heard()).toContain('POST /v3/');
  });

  it('destroys its connection at the deadline', async () => {
    const silent = await rawServer();
    const error = await failureOf(httpClient(`http://${silent.at}`, { timeoutMs, clock: systemClock }).ask(pairCall));
    expect(error).toMatchObject({ failure: 'transport', unsent: false });
    // The HTTP library may have opened another one meanwhile.
    while (silent.open() === silent.connections()) await new Promise(setImmediate);
  });
});
