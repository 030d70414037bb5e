import { ExportError } from '../lib/export-error.ts';
import type { Asker, CallOutline } from './asset-client.ts';
import { AttemptError } from './attempt-error.ts';
import type { ClientListener } from './client-events.ts';

export interface LongAnswersOptions {
  /** Attempts of a call after the first. */
  readonly retries: number;
  readonly stop?: AbortSignal | undefined;
  readonly listener?: ClientListener | undefined;
}

/** How often a call whose answer is too long is tried again as it is. */
const mostRetries = 2;

/** So many in a row, down to a call of one id, are the service's trouble, and no id's. */
const mostInRow = 16;

/**
 * Takes an answer that stays too long for a refusal of the call's size: halving finds calls whose answers can be read, and ids
 * whose records cannot. It is doubtful, as the service may be in trouble, or a single record the reason.
 * @throws {ExportError} `unavailable` when the service sends nothing else
 */
export function withLongAnswers<Call extends CallOutline>(
  inner: Asker<Call>,
  { retries, stop, listener }: LongAnswersOptions,
): Asker<Call> {
  const most = Math.min(mostRetries, retries);
  /** Whichever calls they answered. */
  let inRow = 0;
  /** Sends nothing after it, however many calls of one id wait. */
  let ended: ExportError | undefined;
  return {
    ask: async (call) => {
      for (let attempt = 1; ; attempt += 1) {
        if (ended !== undefined) throw ended;
        try {
          const answer = await inner.ask(call);
          if (answer.kind === 'records') inRow = 0;
          return answer;
        } catch (error) {
          if (!(error instanceof AttemptError && error.failure === 'tooLong')) throw error;
          stop?.throwIfAborted();
          inRow += 1;
          const isOne = call.ids.length === 1;
          if (isOne && inRow >= mostInRow) throw (ended ??= nothingElse(call, error, inRow));
          // One may be a mishap. Where they come in a row, to halve the call is the better try.
          if (attempt > most || (!isOne && inRow > most)) {
            return { kind: 'refused', why: 'size', message: error.message, doubtful: true };
          }
          listener?.({ kind: 'retry', reason: error.message, waitMs: 0, attempt });
        }
      }
    },
  };
}

function nothingElse({ ids }: CallOutline, error: AttemptError, inRow: number): ExportError {
  return new ExportError(
    'unavailable',
    `The service sent ${inRow} answers in a row that are too long; the last time, to a call of the id ${ids.first ?? ''}: ${error.message}.`,
    {
      todo: 'Run the same command again later: it goes on from here, and what was answered is kept.',
      facts: { answers: inRow, status: error.status ?? null },
      cause: error,
    },
  );
}
