import { ExportError } from '../../lib/export-error.ts';

const fact = 'lostSlice';

/** The error of a process that was too slow to keep its slice. */
export function lostSlice(): ExportError {
  return new ExportError('locked', 'another process took over this export while this one did not respond', {
    facts: { [fact]: true },
    todo: 'Wait for that process to end (asset-export status shows its progress), then run the same command again.',
  });
}

export function isLostSlice(error: unknown): boolean {
  return error instanceof ExportError && error.facts[fact] === true;
}
