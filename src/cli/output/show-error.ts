import { exitCodes } from '../../lib/exit-codes.ts';
import { ExportError, messageOf, shortageIn } from '../../lib/export-error.ts';
import { withShownPaths, safeText } from '../../lib/addresses/shown-text.ts';
import type { Terminal } from '../stop-signals.ts';

/**
 * Reports an error on stderr and gives the exit status. A stack trace is shown for bugs alone.
 * @param json whether to print a JSON object on stdout
 */
export function showError(
  error: unknown,
  json: boolean,
  terminal: Pick<Terminal, 'stderr' | 'stdout' | 'cwd'>,
): number {
  const { stdout, stderr } = terminal;
  if (error instanceof ExportError) {
    stderr.write(`${errorText(error, terminal.cwd())}\n`);
    if (json)
      stdout.write(`${JSON.stringify({ state: 'error', exitCode: error.exitCode, error: errorJson(error) })}\n`);
    return error.exitCode;
  }
  const shortage = shortageIn(error);
  if (shortage !== undefined) {
    const { what, todo } = shortage;
    return showError(new ExportError('cannotWrite', `${what}: ${messageOf(error)}`, { todo }), json, terminal);
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  stderr.write(`asset-export: this is a bug, please report it\n${safeText(stack)}\n`);
  return exitCodes.bug.code;
}

/** A warning on stderr, outside of the progress of a run. */
export function showWarning(message: string, { stderr, cwd }: Pick<Terminal, 'stderr' | 'cwd'>): void {
  stderr.write(`asset-export: warning: ${forPeople(message, cwd())}\n`);
}

/** An error in the form of `--json`; null without one. */
export function errorJson(error: ExportError | undefined): object | null {
  if (error === undefined) return null;
  const { facts, exit: code, message, todo = null, why, again } = error;
  return { ...facts, code, message, todo, why: why?.kind ?? null, again };
}

/** The message and what to do. */
export function errorText(error: ExportError, cwd: string): string {
  const todo = error.todo === undefined ? '' : `\n  ${error.todo.replaceAll('\n', '\n  ')}`;
  return forPeople(`asset-export: ${error.message}${todo}`, cwd);
}

/** A message as a terminal shows it. Logs and JSON keep absolute paths: who reads them may be elsewhere. */
export function forPeople(message: string, cwd: string): string {
  return withShownPaths(safeText(message), cwd);
}
