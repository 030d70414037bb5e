import { request } from 'node:http';
import { type Socket, isIP } from 'node:net';
import { ExportError } from '../../../lib/export-error.ts';
import type { Proxy } from './proxy-settings.ts';

/**
 * Makes a socket to an HTTP proxy the tunnel to a host (CONNECT; RFC 9110, 9.3.6).
 * @param authority `host:port`
 * @throws {ExportError} `unavailable` when the proxy refuses this user or this host; other errors may pass
 */
export function openHttpTunnel(socket: Socket, proxy: Proxy, authority: string): Promise<void> {
  const { user, password } = proxy;
  const credentials = Buffer.from(`${user}:${password}`).toString('base64');
  return new Promise((resolve, reject) => {
    request({
      method: 'CONNECT',
      path: authority,
      headers: {
        host: authority,
        connection: 'keep-alive',
        'proxy-connection': 'keep-alive',
        ...(user === '' && password === '' ? {} : { 'proxy-authorization': `Basic ${credentials}` }),
      },
      createConnection: () => socket,
    })
      // Node reports every status here, as no body follows an answer to CONNECT that is good.
      .on('connect', ({ statusCode: status = 0 }, _socket, head) => {
        if (head.length > 0) socket.unshift(head);
        if (status >= 200 && status < 300) resolve();
        else if (status === 407 || status === 403) reject(proxyRefused(proxy, `HTTP ${status}`, status));
        else reject(new Error(`the proxy answered HTTP ${status} to CONNECT`));
      })
      .on('error', reject)
      .end();
  });
}

/**
 * A proxy that wants other credentials or does not let this host through refuses every call: nothing is tried again.
 * @param how what the proxy answered
 * @param status in HTTP's terms
 */
function proxyRefused({ variable, user }: Proxy, how: string, status: number): ExportError {
  const direct = `or name the host of the service in NO_PROXY to reach it without a proxy`;
  const credentials =
    user === ''
      ? `Put the user and password of the proxy into ${variable} (http://user:password@host:port)`
      : `Check the user and password in ${variable}`;
  const allow = 'Have the proxy allow the host and port of the service';
  return new ExportError('unavailable', `The proxy of ${variable} refused the connection to the service (${how}).`, {
    todo: `Nothing was sent. ${status === 407 ? credentials : allow}, ${direct}. Then run the same command again.`,
    why: { kind: 'refused', status },
    unsent: true,
  });
}

// RFC 1928, and RFC 1929 for user and password.
const version = 5;
const methods = { none: 0, password: 2, notAcceptable: 0xff };
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 };
const notAllowed = 2;
const replies: Readonly<Record<number, string>> = {
  1: 'general failure',
  3: 'network unreachable',
  4: 'host unreachable',
  5: 'connection refused',
  6: 'TTL expired',
  7: 'command not supported',
  8: 'address type not supported',
};

/**
 * Makes a socket to a SOCKS5 server the tunnel to a host, whose name the server resolves.
 * @throws {ExportError} `unavailable` when the server refuses this user or this host; other errors may pass
 */
export async function openSocksTunnel(
  socket: Socket,
  proxy: Proxy,
  target: {
    /** Without the brackets of an IPv6 address. */
    readonly hostname: string;
    readonly port: number;
  },
): Promise<void> {
  const hasUser = proxy.user !== '' || proxy.password !== '';
  const offered = hasUser ? [methods.password, methods.none] : [methods.none];
  socket.write(Buffer.from([version, offered.length, ...offered]));
  const method = await reply(socket);
  if (method === methods.notAcceptable) throw proxyRefused(proxy, 'SOCKS: no method of authentication in common', 407);
  if (!offered.includes(method)) throw new Error(`the proxy chose an unknown SOCKS method (${method})`);
  if (method === methods.password) await authenticate(socket, proxy);
  socket.write(Buffer.from([version, 1, 0, ...addressOf(target.hostname), target.port >> 8, target.port & 0xff]));
  const code = await reply(socket);
  if (code === notAllowed) throw proxyRefused(proxy, 'SOCKS: not allowed by its rules', 403);
  if (code !== 0) throw new Error(`the proxy answered "${replies[code] ?? code}" over SOCKS`);
  const [, type = 0] = await bytesOf(socket, 2);
  const length = type === addressTypes.ipv4 ? 4 : type === addressTypes.ipv6 ? 16 : (await bytesOf(socket, 1))[0];
  // The address that the server connects from, and its port.
  await bytesOf(socket, (length ?? 0) + 2);
}

async function authenticate(socket: Socket, proxy: Proxy): Promise<void> {
  socket.write(Buffer.from([1, ...counted(proxy.user), ...counted(proxy.password)]));
  const [, status] = await bytesOf(socket, 2);
  if (status !== 0) throw proxyRefused(proxy, 'SOCKS: user or password not accepted', 407);
}

/** The second byte of a reply, whose first is the version. */
async function reply(socket: Socket): Promise<number> {
  const [spoken, code = 0] = await bytesOf(socket, 2);
  if (spoken !== version) throw new Error('the proxy does not speak SOCKS5');
  return code;
}

function addressOf(hostname: string): number[] {
  const kind = isIP(hostname);
  if (kind === 4) return [addressTypes.ipv4, ...hostname.split('.').map(Number)];
  if (kind === 6) return [addressTypes.ipv6, ...ipv6Bytes(hostname)];
  return [addressTypes.name, ...counted(hostname)];
}

/** A text behind its length, which is one byte. */
function counted(text: string): number[] {
  const bytes = Buffer.from(text);
  if (bytes.length > 255) throw new Error('a name or password of more than 255 bytes, which SOCKS cannot carry');
  return [bytes.length, ...bytes];
}

/** @param address as a URL writes it: hexadecimal groups, the longest run of zeros as `::` */
function ipv6Bytes(address: string): number[] {
  const [front = [], back] = address.split('::').map((half) => half.split(':').filter((group) => group !== ''));
  const zeros = back === undefined ? 0 : 8 - front.length - back.length;
  const groups = [...front, ...Array<string>(zeros).fill('0'), ...(back ?? [])].map((group) => parseInt(group, 16));
  return groups.flatMap((group) => [group >> 8, group & 0xff]);
}

/** So many bytes from a socket, and no more: those behind them belong to the tunnel. */
function bytesOf(socket: Socket, count: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      socket.off('readable', read).off('end', onEnd).off('close', onEnd).off('error', onError);
    };
    const read = (): void => {
      const bytes = socket.read(count) as Buffer | null;
      if (bytes?.length !== count) return;
      end();
      resolve(bytes);
    };
    const onEnd = (): void => {
      end();
      reject(new Error('the proxy closed the connection'));
    };
    const onError = (error: Error): void => {
      end();
      reject(error);
    };
    socket.on('readable', read).on('end', onEnd).on('close', onEnd).on('error', onError);
    if (socket.destroyed) onEnd();
    else read();
  });
}
