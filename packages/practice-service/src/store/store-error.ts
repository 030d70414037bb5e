import { ExportError, messageOf } from '../../../../src/lib/export-error.ts';

/** What could not be done with a store on disk. */
export function storeError(what: string, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause;
  return new ExportError('cannotWrite', `cannot ${what}: ${messageOf(cause)}`, {
    todo: 'Free disk space, fix the permission, or move the file that is in the way. Then run the same command again.',
    cause,
  });
}
