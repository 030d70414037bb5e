import { type Again, exitCodes, type ExitName } from './exit-codes.ts';
import { safeText } from './addresses/shown-text.ts';

/** Facts of an error for logs and `--json`: never the key, never the request address. */
export type ErrorFacts = Readonly<Record<string, string | number | boolean | null>>;

/** What code decides by, where the exit code is not enough. Data of it are facts as well. */
export type ErrorWhy =
  /** The service, or what stands before it, refused the call for good. */
  | { readonly kind: 'refused'; readonly status: number }
  /** Nothing that was sent in this process ever got an answer. */
  | { readonly kind: 'neverAnswered' }
  /** ISO 8601, `now`, or null when only the provider knows. */
  | { readonly kind: 'spent'; readonly limit: string; readonly runAgainAt: string | null }
  /** The job or its inputs are not those with which the export began. */
  | { readonly kind: 'changed'; readonly changed: string }
  | { readonly kind: 'held'; readonly host: string; readonly pid: number }
  /** Another process took the slice over. */
  | { readonly kind: 'lostSlice' }
  /** Several columns of a list hold ids. */
  | { readonly kind: 'columns'; readonly columns: string }
  | { readonly kind: 'startedOver' }
  /** A manifest names a path outside of its export. */
  | { readonly kind: 'outside' };

export interface ErrorDetail {
  /** What the reader can do about it, as a sentence or a command. */
  readonly todo?: string | undefined;
  readonly facts?: ErrorFacts;
  readonly why?: ErrorWhy | undefined;
  /** As the exit code says unless given. */
  readonly again?: Again | undefined;
  /** True when surely no byte of a request left this machine. */
  readonly unsent?: boolean;
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
  readonly why: ErrorWhy | undefined;
  readonly again: Again;
  readonly unsent: boolean;

  constructor(exit: ExitName, message: string, detail: ErrorDetail = {}) {
    super(safeText(message), detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = 'ExportError';
    const shortage = blamesFiles.has(exit) ? handlesShortIn(detail.cause) : undefined;
    this.exit = shortage === undefined ? exit : 'cannotWrite';
    const todo = shortage?.todo ?? detail.todo;
    this.todo = todo === undefined ? undefined : safeText(todo);
    const { kind: _, ...data } = detail.why ?? { kind: undefined };
    this.unsent = detail.unsent ?? false;
    this.facts = { ...data, ...(this.unsent ? { sent: false } : {}), ...detail.facts };
    this.why = detail.why;
    this.again = (shortage === undefined ? detail.again : undefined) ?? exitCodes[this.exit].again;
  }

  /** The exit status of a process that ends with this error. */
  get exitCode(): number {
    return exitCodes[this.exit].code;
  }
}

/** The message of anything that can be thrown. An `AggregateError` of several tried addresses has those of all of them. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) {
    return [...new Set(error.errors.map(messageOf))].join('; ');
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

/** Something of the system or of V8 that this process has no more of. */
interface Shortage {
  readonly what: string;
  readonly todo: string;
}

const handles: Shortage = {
  what: 'too many open files or connections',
  todo: 'Raise the limit (ulimit -n 1024 or more), then run the same command again.',
};

const handlesOfMachine: Shortage = {
  what: 'too many open files on this machine',
  todo: 'Stop other programs or raise fs.file-max, then run the same command again.',
};

const memory: Shortage = {
  what: 'out of memory or address space',
  todo: 'Remove the address space limit (ulimit -v unlimited), add memory, or use --threads 1 and a lower --concurrency. Then run the same command again.',
};

const threads: Shortage = {
  what: 'cannot start another thread or process',
  todo: 'Raise the process limit (ulimit -u) or use --threads 1, then run the same command again.',
};

/** Node says so too when the handle that it lacks is that of a package's files. */
const files: Shortage = {
  what: 'cannot load a file of the program',
  todo: 'Raise the limit of open files (ulimit -n 1024 or more), or install asset-export again. Then run the same command again.',
};

const byCode: Readonly<Record<string, Shortage>> = {
  EMFILE: handles,
  ENFILE: handlesOfMachine,
  ENOMEM: memory,
  ERR_MEMORY_ALLOCATION_FAILED: memory,
  ERR_WORKER_OUT_OF_MEMORY: memory,
  ERR_WORKER_INIT_FAILED: threads,
  ERR_MODULE_NOT_FOUND: files,
};

/** V8's words, which have no code. */
const noMemory = /allocation failed|out of memory|could not allocate memory/i;

/** The handles that a process lacks, according to an error or a cause of it. */
function handlesShortIn(error: unknown): Shortage | undefined {
  const shortage = shortageIn(error);
  return shortage === handles || shortage === handlesOfMachine ? shortage : undefined;
}

/** What an error, or a cause of it, says to be used up. */
export function shortageIn(error: unknown, depth = 0): Shortage | undefined {
  if (!(error instanceof Error) || depth > 8) return undefined;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const known = byCode[code] ?? (error instanceof RangeError && noMemory.test(error.message) ? memory : undefined);
  return known ?? shortageIn(error.cause, depth + 1);
}
