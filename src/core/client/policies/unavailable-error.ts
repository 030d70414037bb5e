import { ExportError } from '../../../lib/export-error.ts';
import type { AttemptError } from '../attempt-error.ts';
import type { Unavailable } from '../judgement/judgement.ts';

/** What a run that ends knows of its attempts. */
export interface TroubleFacts {
  /** Attempts that failed since the last answer. */
  readonly failedInRow: number;
  /** When the service answered last, or the first attempt left, in milliseconds since 1970. */
  readonly sinceMs: number;
  /** Whether it answered at all. */
  readonly hasAnswered: boolean;
  /** The first id of a call that failed, to try by hand. */
  readonly id: string | undefined;
}

/** The service counts as unavailable: which explanation the judgement believes, why, and what to do. */
export function unavailable(why: Unavailable, known: TroubleFacts, error: AttemptError): ExportError {
  const { message, todo } = explanations[why](known, error.message);
  return new ExportError('unavailable', message, {
    todo,
    facts: { explanation: why, attempts: known.failedInRow, status: error.status ?? null },
    cause: error,
  });
}

const explanations: Readonly<
  Record<Unavailable, (known: TroubleFacts, last: string) => { message: string; todo: string }>
> = {
  outage: ({ failedInRow, sinceMs, hasAnswered }, last) => ({
    message: `The service is down: ${hasAnswered ? 'no answer' : 'it has not answered'} since ${timeOf(sinceMs)}, ${failedInRow === 1 ? 'one attempt' : `${failedInRow} attempts in a row`} failed; last error: ${last}.`,
    todo: 'Run the same command again later. --retries sets how many probes an outage gets.',
  }),
  form: ({ failedInRow, id }, last) => ({
    message: `The service refuses the form of the calls: it answered none, and refused ${failedInRow} calls in a row for an unknown reason, single ids among them; last error: ${last}.`,
    todo: `Check service.flags and service.url: the service may expect other parameters. Try one id: asset-export get ${id ?? ''}. Then run the same command again.`,
  }),
  pace: (_known, last) => ({
    message: `The service rejects a call as too fast, however long it waits, while it answers single ids: ${last}.`,
    todo: 'Set --ids-per-call to a smaller number, or ask the provider for the limits of the key. Then run the same command again.',
  }),
};

/** `14:03:10`, UTC. */
export function timeOf(ms: number): string {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

export function untrusted(error: AttemptError): ExportError {
  return new ExportError(
    'notTrusted',
    `The certificate of the service is not valid for its address: ${error.message}.`,
    {
      todo: 'Nothing was sent. Check service.url. For your own certificate authority, set NODE_EXTRA_CA_CERTS to its file. Then run the same command again.',
      cause: error,
    },
  );
}
