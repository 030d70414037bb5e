import { exitCodes, type ExitName } from './exit-codes.ts';
import { handlesShortIn } from './process/shortage.ts';
import { safeText } from './addresses/shown-address.ts';

/** Facts of an error for logs and `--json`: never the key, never the request address. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | null>>;

export interface ErrorDetail {
  /** What the reader can do about it, as a sentence or a command. */
  readonly todo?: string;
  readonly facts?: ErrorFacts;
  readonly cause?: unknown;
}

/** Ends that say that a file or the command is wrong. */
const blamesFiles: ReadonlySet<ExitName> = new Set(['input', 'usage', 'damaged']);

/**
 * An error for the person who runs the program: what failed, where, why, and what to do. Its texts are made safe (`safeText`).
 * Anything thrown that is not an `ExportError` is a bug and is shown with its stack. A file that cannot be read because the process
 * has no handle for it is not at fault: such an error is `cannotWrite`.
 */
export class ExportError extends Error {
  readonly exit: ExitName;
  readonly todo: string | undefined;
  readonly facts: ErrorFacts;

  constructor(exit: ExitName, message: string, detail: ErrorDetail = {}) {
    super(safeText(message), detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'ExportError';
    const shortage = blamesFiles.has(exit) ? handlesShortIn(detail.cause) : undefined;
    this.exit = shortage === undefined ? exit : 'cannotWrite';
    const todo = shortage?.todo ?? detail.todo;
    this.todo = todo === undefined ? undefined : safeText(todo);
    this.facts = detail.facts ?? {};
  }

  /** The exit status of a process that ends with this error. */
  get exitCode(): number {
    return exitCodes[this.exit].code;
  }
}

/** The message of anything that can be thrown. An `AggregateError` of several tried addresses has an empty one of its own. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) {
    return messageOf(error.errors[0]);
  }
  return error instanceof Error ? error.message : String(error);
}

/** The `code` of a Node.js system error (`ENOENT`, `ECONNRESET`, …), or undefined. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** True when the system says that nothing is at a path: beneath a file there is nothing either. */
export function isNothingThere(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}
