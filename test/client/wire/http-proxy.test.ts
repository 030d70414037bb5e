import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { proxyFromEnvironment } from '../../../src/client/wire/proxy-settings.ts';
import { httpClient, pairBody, pairCall } from '../support/http-exchange.ts';
import { reply, startRoughServer } from '../support/rough-server.ts';

describe('an http client behind a proxy', () => {
  it('reaches the service through it, or directly where it is exempt', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { body: pairBody });
    });
    const tunnels: string[] = [];
    const proxy = await startProxy(server.port, tunnels);
    const settings = { http: proxy, https: proxy, except: '' };
    expect(await httpClient('http://service.example', { proxy: settings }).ask(pairCall)).toMatchObject({
      kind: 'records',
    });
    expect(tunnels).toEqual(['service.example:80']);
    await httpClient(server.url, { proxy: { ...settings, except: '127.0.0.1' } }).ask(pairCall);
    expect(tunnels).toHaveLength(1);
    expect(server.seen).toHaveLength(2);
  });

  it('shows no password of a proxy that is not understood', async () => {
    const proxy = { http: 'http://user:canary-key@[', https: '', except: '' };
    expect(() => httpClient('http://service.example', { proxy })).toThrow(/HTTP_PROXY or HTTPS_PROXY/);
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
