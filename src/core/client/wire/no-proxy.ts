import { BlockList, isIP, isIPv6 } from 'node:net';

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
