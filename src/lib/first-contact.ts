import { type ErrorFacts, ExportError, messageOf } from './export-error.ts';

/** How long something is tried that has not answered once in this process: its address may be wrong. In milliseconds. */
export const firstContactMs = 30_000;

/** What Node.js and OpenSSL report, and what it says of an address. */
const hints: readonly (readonly [RegExp, string])[] = [
  [/wrong.version.number|packet.length.too.long/i, 'It answers plain http: write http://. '],
  [/ENOTFOUND/, 'There is no such host. '],
  [/EAI_AGAIN/, 'The name of the host cannot be resolved. '],
  [/ECONNREFUSED/, 'Nothing listens on that host and port. '],
];

/** Nothing that was sent to it got an answer in this process: an outage has another text. @param check what to look at */
export function neverAnswered(what: string, error: unknown, check: string, facts: ErrorFacts = {}): ExportError {
  const last = messageOf(error);
  const hint = hints.find(([form]) => form.test(last))?.[1] ?? '';
  return new ExportError('unavailable', `cannot reach ${what}, it never answered: ${last}`, {
    todo: `${hint}${check}`,
    why: { kind: 'neverAnswered' },
    facts,
    cause: error,
  });
}
