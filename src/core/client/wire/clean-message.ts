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

/** Replaces each secret by `***`, as it is and as it stands in an address, in upper and lower case. */
export function secretScrubber(secrets: readonly string[]): Scrub {
  const forms = [...new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret)]))]
    .filter((form) => form !== '')
    .sort((a, b) => b.length - a.length)
    .map((form) => form.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  if (forms.length === 0) return (text) => text;
  const any = new RegExp(forms.join('|'), 'giu');
  return (text) => text.replace(any, '***');
}

function pageTitle(html: string): string {
  const title = /<title[^>]*>([^<]*)/i.exec(html)?.[1]?.trim();
  return title === undefined || title === '' ? 'an HTML page' : `an HTML page, “${title}”`;
}
