import { getDefaultAutoSelectFamilyAttemptTimeout, setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { type ErrorFacts, ExportError, messageOf } from './export-error.ts';

/** How long each address of a host but the last has to answer, in milliseconds. Node's 250 are less than a connection across the world takes. */
export const addressAttemptMs = 2500;

/** Sets it for all connections of this thread: to the service, stores, databases and receivers of notifications. */
export function giveAddressesTime(): void {
  setDefaultAutoSelectFamilyAttemptTimeout(Math.max(addressAttemptMs, getDefaultAutoSelectFamilyAttemptTimeout()));
}

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

/**
 * What a status says of the next attempt, whoever answers: `busy` and `pace` may pass, `unsupported` never does, `denied` and
 * `refused` are about this request.
 */
type StatusMeaning = 'done' | 'denied' | 'refused' | 'pace' | 'busy' | 'unsupported';

const meanings: Readonly<Record<number, StatusMeaning>> = {
  401: 'denied',
  403: 'denied',
  408: 'busy',
  425: 'busy',
  429: 'pace',
  501: 'unsupported',
  505: 'unsupported',
};

export function meaningOfStatus(status: number): StatusMeaning {
  return meanings[status] ?? (status >= 500 ? 'busy' : status >= 200 && status < 300 ? 'done' : 'refused');
}
