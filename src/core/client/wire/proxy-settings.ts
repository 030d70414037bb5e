import { ExportError } from '../../../lib/export-error.ts';
import { isExcepted } from './no-proxy.ts';

/** Proxies to reach the service through; see `proxyFromEnvironment`. */
export interface ProxySettings {
  readonly http: string;
  readonly https: string;
  /** Hosts to reach directly, as in `NO_PROXY`. */
  readonly except: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`, small letters first as in curl; undefined when no proxy is named. */
export function proxyFromEnvironment(env: Environment): ProxySettings | undefined {
  const settings = {
    http: read(env, 'http_proxy'),
    https: read(env, 'https_proxy'),
    except: read(env, 'no_proxy'),
  };
  return settings.http === '' && settings.https === '' ? undefined : settings;
}

function read(env: Environment, name: string): string {
  return env[name] ?? env[name.toUpperCase()] ?? '';
}

/** A warning where `ALL_PROXY` is set and the service is reached without a proxy all the same. */
export function ignoredProxy(url: string, env: Environment): string | undefined {
  if (read(env, 'all_proxy') === '' || !/^https?:/i.test(url)) return undefined;
  const { protocol, host } = new URL(url);
  if (isExcepted(host, protocol, read(env, 'no_proxy'))) return undefined;
  const settings = proxyFromEnvironment(env);
  if (settings !== undefined && named(protocol, settings).address !== '') return undefined;
  return 'ALL_PROXY is set, but calls do not use it; set HTTPS_PROXY (or HTTP_PROXY) to send them through a proxy';
}

/** The proxy that calls of one origin go through. */
export interface Proxy {
  /** The environment variable that names it: all that a message shows of it. */
  readonly variable: 'HTTP_PROXY' | 'HTTPS_PROXY';
  readonly kind: 'http' | 'socks';
  /** TLS between this machine and the proxy. */
  readonly isSecure: boolean;
  /** Without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
  /** Both empty: the proxy is asked without. */
  readonly user: string;
  readonly password: string;
}

/** Ways to speak to a proxy, and their usual ports. */
const schemes: Readonly<Record<string, Pick<Proxy, 'kind' | 'isSecure' | 'port'>>> = {
  'http:': { kind: 'http', isSecure: false, port: 80 },
  'https:': { kind: 'http', isSecure: true, port: 443 },
  'socks:': { kind: 'socks', isSecure: false, port: 1080 },
  'socks5:': { kind: 'socks', isSecure: false, port: 1080 },
  'socks5h:': { kind: 'socks', isSecure: false, port: 1080 },
};

/**
 * The proxy for calls to an address, if there is one.
 * @throws {ExportError} `usage` when its own address cannot be right; that is not shown, as it may hold a password
 */
export function proxyFor(url: string, settings: ProxySettings | undefined): Proxy | undefined {
  if (settings === undefined) return undefined;
  const { protocol, host } = new URL(url.trim());
  const { variable, address } = named(protocol, settings);
  if (address === '' || isExcepted(host, protocol, settings.except)) return undefined;
  const proxy = parsed(address.trim());
  if (proxy !== undefined) return { variable, ...proxy };
  throw new ExportError('usage', `${variable} is not a valid proxy address.`, {
    todo: 'Write it as http://host:port, https://host:port or socks5://host:port, or unset it.',
  });
}

/** Without a proxy for https, that for http serves both. */
function named(protocol: string, { http, https }: ProxySettings): Pick<Proxy, 'variable'> & { address: string } {
  return protocol === 'https:' && https !== ''
    ? { variable: 'HTTPS_PROXY', address: https }
    : { variable: 'HTTP_PROXY', address: http };
}

function parsed(address: string): Omit<Proxy, 'variable'> | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  const scheme = schemes[url.protocol];
  if (scheme === undefined || url.hostname === '') return undefined;
  try {
    return {
      ...scheme,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port === '' ? scheme.port : Number(url.port),
      user: decodeURIComponent(url.username),
      password: decodeURIComponent(url.password),
    };
  } catch {
    // A % that escapes nothing.
    return undefined;
  }
}
