import { addressExample, addressProblem } from '../../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { defaultDialect, type ServiceDialect, takesKey } from '../dialects.ts';
import { secretScrubber, type Scrub } from './clean-message.ts';

/** Where calls go. `path` or a header holds the key: none of this belongs in a message, a log or a file. */
export interface ServiceAddress {
  readonly origin: string;
  readonly path: string;
  /** With the key, where the dialect has it in one. */
  readonly headers: Readonly<Record<string, string>>;
  /** Takes the key out of a text, as it is and encoded. */
  readonly scrub: Scrub;
}

/** What TLS of Node.js takes beside an address, as PEM. */
export interface TlsMaterial {
  /** Certificate of this client, which others of its chain may follow, and its private key. */
  readonly cert?: string;
  readonly key?: string;
  /** The authorities that are trusted, instead of the usual ones. */
  readonly ca?: string[];
}

export interface ServiceAddressOptions {
  /** The base address, without what the dialect adds. */
  readonly url: string;
  /** Empty for a dialect that takes none. */
  readonly apiKey: string;
  readonly dialect?: ServiceDialect | undefined;
}

/**
 * The base address and the path of the dialect, with the key in its place, checked once.
 * @throws {ExportError} `usage`, without showing the address: it may hold a key by mistake.
 */
export function serviceAddress({
  url: text,
  apiKey: given,
  dialect = defaultDialect,
}: ServiceAddressOptions): ServiceAddress {
  const url = parsedUrl(text.trim(), dialect);
  const apiKey = given.trim();
  const problem = takesKey(dialect) ? keyProblem(apiKey) : undefined;
  if (problem !== undefined) throw wrong(`The API key ${problem}`, onlyTheKey);
  const base = url.pathname.replace(/\/+$/, '');
  return {
    origin: url.origin,
    path: `${base}${dialect.path.replace('{key}', () => encodeURIComponent(apiKey))}`,
    headers: headersOf(dialect, apiKey),
    scrub: secretScrubber([apiKey]),
  };
}

function headersOf({ header }: ServiceDialect, apiKey: string): Readonly<Record<string, string>> {
  if (header === undefined) return {};
  const at = header.indexOf(':');
  return {
    [header.slice(0, at).toLowerCase()]: header
      .slice(at + 1)
      .trim()
      .replace('{key}', () => apiKey),
  };
}

export const onlyTheKey = 'The file or the environment variable must contain only the key, on one line.';

/** What is wrong with a trimmed key, as a clause that does not show it. */
export function keyProblem(apiKey: string): string | undefined {
  if (apiKey === '') return 'is empty';
  if (/^(?:export\s+)?[A-Za-z_]\w*=[^=]/.test(apiKey)) return 'is written as NAME=key';
  if (/^["'`“”‘’]|["'`“”‘’]$/.test(apiKey)) return 'is in quotes';
  // \p{Cc}: a key with a line break inside is two keys, or a file of another kind.
  return /[\s\p{Cc}]/u.test(apiKey) ? 'contains spaces or line breaks' : undefined;
}

function parsedUrl(text: string, { path }: ServiceDialect): URL {
  const problem = addressProblem(text, path);
  if (problem !== undefined) throw wrong(`The service address (service.url) ${problem}`, addressExample);
  return new URL(text);
}

function wrong(message: string, todo: string): ExportError {
  return new ExportError('usage', `${message}.`, { todo });
}
