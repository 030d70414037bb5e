import { codeOf, ExportError, messageOf } from '../../../lib/export-error.ts';
import { isUnreachable, lockNotGranted, shownReason } from '../load-errors.ts';

/** What failed after COMMIT. */
export function notMade(what: string, error: unknown, todo: string): ExportError {
  const message = `the rows are loaded, ${what} is not: ${shownReason(messageOf(error))}`;
  if (isUnreachable(error))
    return new ExportError('unavailable', message, { todo: 'Run load again with the same flags.' });
  if (codeOf(error) !== lockNotGranted) return new ExportError('loadFailed', message, { todo });
  return new ExportError('unavailable', message, {
    todo: 'Run load again with the same flags when the transactions end that have read or changed it.',
  });
}
