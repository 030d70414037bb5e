import { reasonOfService } from '../../records/own-reason.ts';

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
