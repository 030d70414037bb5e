import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';

/**
 * Tells an error on stderr and gives the exit status. A stack trace is shown for bugs alone.
 * @param json whether the command line asked for a JSON object on stdout
 */
export function showError(error: unknown, json: boolean): number {
  if (error instanceof ExportError) {
    process.stderr.write(`${errorText(error)}\n`);
    if (json)
      process.stdout.write(
        `${JSON.stringify({ state: 'error', exitCode: error.exitCode, error: errorJson(error) })}\n`,
      );
    return error.exitCode;
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  process.stderr.write(`asset-export: this is a bug, please report it\n${stack}\n`);
  return exitCodes.bug.code;
}

/** An error as `--json` tells it. */
export function errorJson(error: ExportError): object {
  return { ...error.facts, code: error.exit, message: error.message, todo: error.todo ?? null };
}

/** What, why, and what to do. */
export function errorText(error: ExportError): string {
  return `asset-export: ${error.message}${error.todo === undefined ? '' : `\n  ${error.todo}`}`;
}
