import { addressExample, addressProblem } from '../../../lib/addresses/base-address.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { secretScrubber, type Scrub } from './clean-message.ts';

/** Where calls go. `path` ends with the key: neither it nor the origin belongs in a message, a log or a file. */
export interface ServiceAddress {
  readonly origin: string;
  readonly path: string;
  /** Takes the key out of a text. */
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
  /** The base address, without `/v3/<key>`. */
  readonly url: string;
  readonly apiKey: string;
}

/**
 * `{url}/v3/{apiKey}`, checked once.
 * @throws {ExportError} `usage`, without showing the address: it may hold a key by mistake.
 */
export function serviceAddress(options: ServiceAddressOptions): ServiceAddress {
  const url = parsedUrl(options.url.trim());
  const apiKey = options.apiKey.trim();
  const problem = keyProblem(apiKey);
  if (problem !== undefined) throw wrong(`The API key ${problem}`, onlyTheKey);
  return {
    origin: url.origin,
    path: `${url.pathname.replace(/\/+$/, '')}/v3/${encodeURIComponent(apiKey)}`,
    scrub: secretScrubber([apiKey]),
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

function parsedUrl(text: string): URL {
  const problem = addressProblem(text);
  if (problem !== undefined) throw wrong(`The service address (service.url) ${problem}`, addressExample);
  return new URL(text);
}

function wrong(message: string, todo: string): ExportError {
  return new ExportError('usage', `${message}.`, { todo });
}
