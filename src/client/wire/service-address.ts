import { addressExample, addressProblem } from '../../lib/base-address.ts';
import { ExportError } from '../../lib/export-error.ts';
import { secretScrubber, type Scrub } from './clean-message.ts';

/** Where calls go. `path` ends with the key: neither it nor the origin belongs in a message, a log or a file. */
export interface ServiceAddress {
  readonly origin: string;
  readonly path: string;
  /** Takes the key out of a text. */
  readonly scrub: Scrub;
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
  if (apiKey === '') throw wrong('The API key is empty', 'Put the key into the file or the environment variable.');
  // \p{Cc}: a key with a line break inside is two keys, or a file of another kind.
  if (/[\s\p{Cc}]/u.test(apiKey)) {
    throw wrong('The API key contains spaces or line breaks', 'The file must contain only the key, on one line.');
  }
  return {
    origin: url.origin,
    path: `${url.pathname.replace(/\/+$/, '')}/v3/${encodeURIComponent(apiKey)}`,
    scrub: secretScrubber([apiKey]),
  };
}

function parsedUrl(text: string): URL {
  const problem = addressProblem(text);
  if (problem !== undefined) throw wrong(`The service address (service.url) ${problem}`, addressExample);
  return new URL(text);
}

function wrong(message: string, todo: string): ExportError {
  return new ExportError('usage', `${message}.`, { todo });
}
