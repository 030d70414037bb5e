import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { proxyFromEnvironment } from '../../../../src/core/client/wire/proxy-settings.ts';
import { certificates } from '../../../support/certificates.ts';
import { rawServer, refusingProxy, socksServer, tunnellingSocks } from '../support/bad-proxies.ts';
import { failureOf, httpClient, pairBody, pairCall } from '../support/http-exchange.ts';
import { reply, startRoughServer } from '../support/rough-server.ts';

const answers = { kind: 'records' };

describe('an http client behind a proxy', () => {
  it('reaches the service through it, or directly where it is exempt', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { body: pairBody });
    });
    const tunnels: string[] = [];
    const proxy = await startProxy(server.port, tunnels);
    const settings = { http: proxy, https: proxy, except: '' };
    expect(await httpClient('http://service.example', { proxy: settings }).ask(pairCall)).toMatchObject(answers);
    expect(tunnels).toEqual(['service.example:80']);
    await httpClient(server.url, { proxy: { ...settings, except: '127.0.0.1' } }).ask(pairCall);
    expect(tunnels).toHaveLength(1);
    expect(server.seen).toHaveLength(2);
  });

  it('speaks TLS to the service, not to the proxy', async () => {
    const url = await startSecureServer();
    const { port } = new URL(url);
    const tunnels: string[] = [];
    const proxy = { http: '', https: await startProxy(Number(port), tunnels), except: '' };
    expect(await httpClient(url, { proxy, tls: { ca: [certificates.valid] } }).ask(pairCall)).toMatchObject(answers);
    expect(tunnels).toEqual([`127.0.0.1:${port}`]);
    expect(await failureOf(httpClient(url, { proxy }).ask(pairCall))).toMatchObject({
      failure: 'untrusted',
      unsent: true,
      message: expect.stringMatching(/self-signed certificate.* through the proxy of HTTPS_PROXY/) as string,
    });
  });

  it.each([
    ['without a password', '', undefined],
    ['with one', 'user:p%40ss@', 'p@ss'],
  ])('reaches the service through SOCKS, %s', async (_, credentials, password) => {
    const server = await startRoughServer((response) => {
      reply(response, { body: pairBody });
    });
    const secure = await startSecureServer();
    const socks = async (port: number | string) => {
      const { at, heard } = await tunnellingSocks(Number(port), password);
      return { settings: { http: `socks5://${credentials}${at}`, https: '', except: '' }, heard };
    };
    const plain = await socks(server.port);
    expect(await httpClient('http://service.example', { proxy: plain.settings }).ask(pairCall)).toMatchObject(answers);
    expect(plain.heard()).toContain('\u0005\u0001\0\u0003\u000fservice.example\0P');
    const proxy = (await socks(new URL(secure).port)).settings;
    expect(await httpClient(secure, { proxy, tls: { ca: [certificates.valid] } }).ask(pairCall)).toMatchObject(answers);
  });

  it('gives SOCKS an IPv6 address as its bytes', async () => {
    const { at, heard } = await socksServer([5, 0], [5, 4, 0, 1, 0, 0, 0, 0, 0, 0]);
    const proxy = { http: `socks5://${at}`, https: '', except: '' };
    await failureOf(httpClient('http://[2001:db8::1:2]:8080', { proxy }).ask(pairCall));
    expect(heard()).toContain(
      '\u0005\u0001\0\u0004\u0020\u0001\u000d\u00b8\0\0\0\0\0\0\0\0\0\u0001\0\u0002\u001f\u0090',
    );
  });

  it('sends the credentials that its address holds', async () => {
    const { at, heard } = await refusingProxy('HTTP/1.1 407 Proxy Authentication Required');
    const proxy = { http: `http://user:p%40ss@${at}`, https: '', except: '' };
    await failureOf(httpClient('http://service.example', { proxy }).ask(pairCall));
    expect(heard()).toContain(`proxy-authorization: Basic ${Buffer.from('user:p@ss').toString('base64')}\r\n`);
    expect(heard()).not.toContain('/v3/');
  });

  it.each([
    ['http://user:canary-key@[', 'is no address'],
    ['http://user:canary%@proxy.example', 'escapes nothing'],
    ['socks4://canary-key@proxy.example', 'is of a kind that is not known'],
    ['canary-key.proxy.example:3128', 'has no scheme'],
  ])('shows no password of a proxy whose address %s', async (http) => {
    const proxy = { http, https: '', except: '' };
    const said = () => httpClient('http://service.example', { proxy });
    expect(said).toThrow(/^HTTP_PROXY is not a valid proxy address/);
    expect(said).not.toThrow(/canary/);
  });
});

describe('a proxy that does not let calls through', () => {
  const canary = 'http://canary-user:canary-password@';

  it.each([
    [407, '', 'Put the user and password of the proxy into HTTPS_PROXY'],
    [407, 'canary-user:canary-password@', 'Check the user and password in HTTPS_PROXY'],
    [403, '', 'Have the proxy allow the host and port of the service'],
  ])('ends all with exit 5 by %i, says what to set, and was sent nothing', async (status, credentials, todo) => {
    const { at, heard } = await refusingProxy(`HTTP/1.1 ${status} No`);
    const proxy = { http: '', https: `http://${credentials}${at}`, except: '' };
    const error = await failureOf(httpClient('https://service.example', { proxy }).ask(pairCall));
    expect(error).toMatchObject({
      exit: 'unavailable',
      facts: { status, sent: false },
      message: `The proxy of HTTPS_PROXY refused the connection to the service (HTTP ${status}).`,
      todo: expect.stringMatching(`^Nothing was sent. ${todo}.*NO_PROXY`) as string,
    });
    expect(heard()).toMatch(/^CONNECT service.example:443 HTTP\/1.1\r\n/);
  });

  it.each([
    ['HTTP/1.1 502 Bad Gateway', /the proxy answered HTTP 502 to CONNECT/],
    ['HTTP/1.1 504 Gateway Timeout', /the proxy answered HTTP 504 to CONNECT/],
    ['HTTP/1.1 302 Found\r\nlocation: http://portal.example', /the proxy answered HTTP 302 to CONNECT/],
    ['SSH-2.0-OpenSSH', /Parse Error/],
    // Promise, Nothing overspent: A call without a connection is not booked: refused, silent, black hole, TLS, proxy
  ])('leaves an attempt unsent that may go well the next time: %s', async (head, words) => {
    const proxy = { http: `${canary}${(await refusingProxy(head)).at}`, https: '', except: '' };
    const error = await failureOf(httpClient('https://service.example', { proxy }).ask(pairCall));
    expect(error).toMatchObject({ failure: 'transport', unsent: true });
    expect(error.message).toMatch(/^connection failed through the proxy of HTTP_PROXY: /);
    expect(error.message).toMatch(words);
  });

  it('leaves it unsent when it closes without a word', async () => {
    const closing = await rawServer((socket) => socket.once('data', () => socket.destroy()));
    for (const scheme of ['http', 'https', 'socks5']) {
      const proxy = { http: `${scheme}://${closing.at}`, https: '', except: '' };
      const error = await failureOf(httpClient('http://service.example', { proxy }).ask(pairCall));
      expect(error, scheme).toMatchObject({ failure: 'transport', unsent: true });
    }
  });

  it.each([
    ['no method in common', [[5, 0xff]], 407],
    [
      'a wrong password',
      [
        [5, 2],
        [1, 1],
      ],
      407,
    ],
    [
      'a rule',
      [
        [5, 0],
        [5, 2, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
      403,
    ],
  ])('ends all with exit 5 by SOCKS: %s', async (_, replies, status) => {
    const proxy = { http: '', https: `socks5://canary:canary@${(await socksServer(...replies)).at}`, except: '' };
    expect(await failureOf(httpClient('https://service.example', { proxy }).ask(pairCall))).toMatchObject({
      exit: 'unavailable',
      facts: { status, sent: false },
      message: expect.stringMatching(
        /^The proxy of HTTPS_PROXY refused the connection to the service \(SOCKS: /,
      ) as string,
    });
  });

  it.each([
    [
      'an unreachable host',
      [
        [5, 0],
        [5, 4, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
      /"host unreachable" over SOCKS/,
    ],
    [
      'an unknown reply',
      [
        [5, 0],
        [5, 99, 0, 1, 0, 0, 0, 0, 0, 0],
      ],
      /"99" over SOCKS/,
    ],
    ['another version', [[4, 0]], /does not speak SOCKS5/],
    ['a method that was not offered', [[5, 2]], /unknown SOCKS method/],
  ])('leaves an attempt unsent after a SOCKS error: %s', async (_, replies, words) => {
    const proxy = { http: `socks5://${(await socksServer(...replies)).at}`, https: '', except: '' };
    const error = await failureOf(httpClient('http://service.example', { proxy }).ask(pairCall));
    expect(error).toMatchObject({ failure: 'transport', unsent: true });
    expect(error.message).toMatch(words);
  });

  it('is told from a service by 407, which counts as sent', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { status: 407, body: 'who are you?' });
    });
    expect(await failureOf(httpClient(server.url).ask(pairCall))).toMatchObject({
      exit: 'unavailable',
      facts: { status: 407 },
      message: expect.stringMatching(/^A proxy before the service/) as string,
    });
  });
});

describe('proxyFromEnvironment', () => {
  it('reads small letters first, and is undefined where no proxy is named', () => {
    expect(proxyFromEnvironment({ NO_PROXY: 'a' })).toBeUndefined();
    expect(proxyFromEnvironment({ HTTP_PROXY: 'http://a:1', http_proxy: 'http://b:2', no_proxy: 'c' })).toEqual({
      http: 'http://b:2',
      https: '',
      except: 'c',
    });
    expect(proxyFromEnvironment({ HTTPS_PROXY: 'http://a:1' })).toEqual({ http: '', https: 'http://a:1', except: '' });
  });
});

/** A proxy that tunnels every CONNECT to one port on loopback; its address. */
async function startProxy(port: number, tunnels: string[]): Promise<string> {
  const proxy = createServer().on('connect', (request, socket) => {
    tunnels.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as { port: number }).port}`;
}

/** A service with TLS on loopback; its address. */
async function startSecureServer(): Promise<string> {
  const server = createSecureServer({ key: certificates.key, cert: certificates.valid }, (request, response) => {
    request.resume().on('end', () => response.end(pairBody));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
