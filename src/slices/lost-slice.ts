import { ExportError } from '../lib/export-error.ts';

/** The error of a process that was too slow to keep its slice. */
export function lostSlice(): ExportError {
  return new ExportError('locked', 'another process took over this export while this one did not respond', {
    todo: 'Wait for that process to end (asset-export status shows its progress), then run the same command again.',
  });
}
