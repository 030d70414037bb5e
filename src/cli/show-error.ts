import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';

/** Tells an error on stderr and gives the exit status. A stack trace is shown for bugs alone. */
export function showError(error: unknown): number {
  if (error instanceof ExportError) {
    process.stderr.write(`${errorText(error)}\n`);
    return error.exitCode;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`asset-export: this is a bug, please report it\n${stack}\n`);
  return exitCodes.bug.code;
}

/** What, why, and what to do. */
export function errorText(error: ExportError): string {
  return `asset-export: ${error.message}${error.todo === undefined ? '' : `\n  ${error.todo}`}`;
}
