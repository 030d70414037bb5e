import { reasonOfService } from '../../records/id-tables.ts';
import { addressExample, addressProblem } from '../../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { defaultDialect, type ServiceDialect, takesKey } from '../dialects.ts';

/** Longest message of the service that is shown or kept, in UTF-16 units. */
const maxLength = 300;

// ECMA-48 escape sequences (CSI, OSC, and two-character ones): they could move the cursor or retitle a terminal.
const escapes = /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[@-Z\\-_]?/g;

/** Bidirectional overrides and zero-width characters, and lone surrogates. */
const invisible = /[\p{Cf}\p{Cs}]+/gu;

const blanks = /[\p{Cc}\s]+/gu;

/** Takes what must not be shown out of a text: see `secretScrubber`. */
export type Scrub = (text: string) => string;

/** A service's words for a terminal and a log: one line, no escapes, at most 300 characters, secrets out. */
export function cleanMessage(text: string, scrub: Scrub): string {
  const page = /<(?:!doctype|html|head|body)[\s>]/i.test(text) ? pageTitle(text) : text;
  const line = scrub(
    // Before the cut too, which may go through a secret.
    scrub(page)
      .slice(0, 100 * maxLength)
      .replace(escapes, '')
      .replace(invisible, '')
      .replace(blanks, ' '),
  ).trim();
  return reasonOfService(
    line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, '')}…`,
  );
}

/** Stands for a secret. */
export const hidden = '***';

/**
 * Replaces each secret by `***` in every form that a service may repeat it in, in upper and lower case: as it is, percent-encoded once or
 * more, in hexadecimal, in base64 and base64url at any place, and what Basic authentication decodes it to.
 */
export function secretScrubber(secrets: readonly string[]): Scrub {
  const forms = [...new Set(secrets.flatMap(credentialsOf).flatMap(formsOf))]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length)
    .map((form) => Array.from(form, signPattern).join(''));
  if (forms.length === 0) return (text) => text;
  const any = new RegExp(forms.join('|'), 'giu');
  return (text) => text.replace(any, hidden);
}

/** A secret; also user and password where it is their base64. */
function credentialsOf(secret: string): string[] {
  const text = Buffer.from(secret, 'base64').toString('latin1');
  const [, password] = /^[ -~]+?:([ -~]{4,})$/.exec(text) ?? [];
  return password === undefined ? [secret] : [secret, text, password];
}

/** Shorter secrets are hidden as they are: of a few bytes other words would have the same letters. */
const leastEncoded = 6;

/** A secret, its hexadecimal digits, and those letters of its base64 that no byte beside it changes. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  if (bytes.length < leastEncoded) return [secret];
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(before === 0 ? 0 : before + 1, Math.floor(((before + bytes.length) * 4) / 3)),
  );
  return [secret, bytes.toString('hex'), ...base64];
}

/** A pattern of one character: as it is, behind a backslash, percent-encoded, or as base64url has it. */
function signPattern(sign: string): string {
  const same = ['+-', '/_'].find((pair) => pair.includes(sign));
  const own = same === undefined ? sign.replace(/[\\^$.*?()[\]{}|]/, '\\$&') : `[${same}]`;
  const percent = Buffer.from(sign).toString('hex').replaceAll(/../g, '%(?:25)*$&');
  return `(?:${percent}|\\\\?${own})`;
}

function pageTitle(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim();
  return title === undefined || title === '' ? 'an HTML page' : `an HTML page, “${title}”`;
}

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
