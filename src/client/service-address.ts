import { ExportError } from '../lib/export-error.ts';
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
    throw wrong('The API key holds blanks or line breaks', 'The file should hold the key alone, on one line.');
  }
  return {
    origin: url.origin,
    path: `${url.pathname.replace(/\/+$/, '')}/v3/${encodeURIComponent(apiKey)}`,
    scrub: secretScrubber([apiKey]),
  };
}

function parsedUrl(text: string): URL {
  const example = 'Give the base address, such as https://service.example, without /v3 and the key.';
  if (text === '') throw wrong('The service address (service.url) is empty', example);
  if (!/^https?:\/\//i.test(text)) {
    throw wrong('The service address (service.url) does not begin with https:// or http://', example);
  }
  // URL.parse is missing in Node 20; the error of `new URL` carries the text, so it is not kept as a cause.
  if (/\s/.test(text) || !URL.canParse(text)) {
    throw wrong('The service address (service.url) is not a valid address', example);
  }
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') {
    throw wrong(
      'The service address (service.url) holds a user name or password, which the service does not take',
      example,
    );
  }
  if (url.search !== '' || url.hash !== '') {
    throw wrong('The service address (service.url) has a part behind ? or #', example);
  }
  if (/\/v3(\/|$)/.test(url.pathname)) {
    throw wrong(
      'The service address (service.url) already holds /v3',
      `${example} The key goes into a file (service.apiKeyFile) or the environment.`,
    );
  }
  return url;
}

function wrong(message: string, todo: string): ExportError {
  return new ExportError('usage', `${message}.`, { todo });
}
