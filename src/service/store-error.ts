import { ExportError, messageOf } from '../lib/export-error.ts';

/** What could not be done with a store on disk. */
export function storeError(what: string, cause: unknown): ExportError {
  if (cause instanceof ExportError) return cause;
  return new ExportError('cannotWrite', `cannot ${what}: ${messageOf(cause)}`, {
    todo: 'Make room there, mend the permission or move what stands in the way, then run the same command again.',
    cause,
  });
}
