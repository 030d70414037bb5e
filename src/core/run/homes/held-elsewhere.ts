import { ExportError } from '../../../lib/export-error.ts';
import { commandLine } from '../../../lib/addresses/shown-path.ts';

export function heldElsewhere(address: string): ExportError {
  return new ExportError('locked', `another process works on ${address}`, {
    todo: `Wait for it to end (${commandLine('status', address)} shows its progress), then run the same command again.`,
  });
}
