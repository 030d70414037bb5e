import { BlockList, isIP, isIPv6 } from 'node:net';
import { ExportError } from '../../../lib/export-error.ts';

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

const defaultPorts: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/**
 * Whether a host is one of those that `NO_PROXY` names, separated by commas or blanks, as curl reads them: `*` is every host, a
 * name is its subdomains too, with or without a dot in front or behind, and an address may be a network (`10.0.0.0/8`).
 * A port after a name or an address (`host:8080`, `[::1]:8080`) excepts that port alone.
 * @param host as in a URL: with its port where that is not the usual one, IPv6 in brackets
 */
export function isExcepted(host: string, protocol: string, list: string): boolean {
  const wanted = split(host.toLowerCase());
  const port = wanted.port === '' ? (defaultPorts[protocol] ?? '') : wanted.port;
  return list
    .toLowerCase()
    .split(/[,\s]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const excepted = split(entry);
      return (excepted.port === '' || excepted.port === port) && fits(wanted.name, excepted.name);
    });
}

/** Name and port of `name`, `name:port`, `::1`, `[::1]` or `[::1]:port`. */
function split(text: string): { readonly name: string; readonly port: string } {
  if (isIPv6(text)) return { name: text, port: '' };
  const { name = '', port = '' } = /^(?<name>.+?)(?::(?<port>\d+))?$/.exec(text)?.groups ?? {};
  return { name: name.replace(/[[\]]/g, ''), port };
}

function fits(host: string, entry: string): boolean {
  if (isIP(host) !== 0) return isWithin(host, entry);
  const name = entry.replace(/^\*?\.|\.$/g, '');
  const wanted = host.replace(/\.$/, '');
  return name !== '' && (wanted === name || wanted.endsWith(`.${name}`));
}

/** Whether an address is another one, however that is written, or lies in a network. */
function isWithin(address: string, entry: string): boolean {
  const [base = '', bits] = entry.split('/');
  const version = isIP(base);
  if (version === 0) return false;
  const family = version === 6 ? 'ipv6' : 'ipv4';
  const most = version === 6 ? 128 : 32;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Number.NaN;
  if (!(prefix <= most)) return false;
  const addresses = new BlockList();
  addresses.addSubnet(base, prefix, family);
  return addresses.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
