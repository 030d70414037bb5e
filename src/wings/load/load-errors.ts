import { codeOf, ExportError, messageOf } from '../../lib/export-error.ts';
import { withoutMiddle } from '../../lib/format-text.ts';
import { shellWord, withoutSecrets } from '../../lib/addresses/shown-text.ts';

/** Errors of the system that say that a server cannot be reached, or was lost. */
const networkErrors: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ECONNABORTED', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['EAI_AGAIN', 'ENOTFOUND'],
]);

/** States of PostgreSQL: a connection that failed, an end by an operator, a start, too many connections. */
const goneStates = /^(08...|57P0[123]|53300)$/;

/** Whether the database cannot be reached now: a later load may reach it. */
export function isUnreachable(error: unknown): boolean {
  const code = codeOf(error);
  if (code === undefined) {
    return /timeout expired|Connection terminated|connection (is|was) closed|not queryable|Client was closed/i.test(
      messageOf(error),
    );
  }
  // The socket of a local server is absent while it does not run.
  const isSocket = code === 'ENOENT' && error instanceof Error && 'syscall' in error && error.syscall === 'connect';
  return isSocket || networkErrors.has(code) || goneStates.test(code);
}

/** Whether not even a refusal came. */
export function isSilent(error: unknown): boolean {
  return isUnreachable(error) && !goneStates.test(codeOf(error) ?? '');
}

/** What a load failed at, for `loadError`. */
export interface FailedLoad {
  /** The database as people may see it. */
  readonly shown: string;
  /** The address of the export. */
  readonly folder: string;
  /** The format of the files that were loaded. */
  readonly format: string;
  /** When it failed. */
  readonly moment: 'before' | 'commit';
}

/** An error of a driver for people. The cause stays out of its way: a driver's error may hold the address. */
export function loadError(error: unknown, { shown, folder, format, moment }: FailedLoad): ExportError {
  const reason = reasonOf(error);
  const message = `${shown}: ${shownReason(reason)}`;
  if (isUnreachable(error)) {
    const todo =
      moment === 'commit'
        ? 'The connection broke during COMMIT: the rows may have been kept. Run the same command again.'
        : 'Rolled back. Run the same command again when the database answers.';
    return new ExportError('unavailable', message, { todo });
  }
  const todo = refusedEntry(error, shown) ?? todoFor(reason, folder, format);
  return duckdbError(reason, { shown, message }) ?? new ExportError('loadFailed', message, { todo });
}

/** What to do where PostgreSQL lets no session begin. */
function refusedEntry(error: unknown, shown: string): string | undefined {
  const code = codeOf(error) ?? '';
  const [, name = 'NAME'] = /^database "(.+)" does not exist$/.exec(messageOf(error)) ?? [];
  if (code === '3D000')
    return `Nothing was loaded. Create the database (createdb ${serverFlags(shown)}${shellWord(name)}), then load again.`;
  if (!code.startsWith('28')) return undefined;
  return 'Nothing was loaded. Check the user of --to, PGPASSWORD and pg_hba.conf of the server, then load again.';
}

/** Of an address without a host, `createdb` finds the server by itself, as the address does. */
function serverFlags(shown: string): string {
  const { hostname, port } = URL.canParse(shown) ? new URL(shown) : { hostname: '', port: '' };
  if (hostname === '') return '';
  return `-h ${shellWord(hostname)} ${port === '' ? '' : `-p ${port} `}`;
}

/** PostgreSQL says in `detail` what exactly it does not take. */
function reasonOf(error: unknown): string {
  const detail = error instanceof Error && 'detail' in error ? error.detail : undefined;
  return typeof detail === 'string' ? `${messageOf(error)}: ${detail}` : messageOf(error);
}

/** What a database says, as people may see it: it may repeat a whole value. Secrets go first, while they are whole. */
export function shownReason(reason: string): string {
  return withoutMiddle(withoutSecrets(reason));
}

function duckdbError(
  reason: string,
  { shown, message }: { readonly shown: string; readonly message: string },
): ExportError | undefined {
  if (/^Out of Memory Error/i.test(reason)) {
    const todo = 'Rolled back. Raise --memory, for example --memory 4GB, then load again.';
    return new ExportError('cannotWrite', message, { todo });
  }
  if (/^IO Error: .*(No such file or directory|Permission denied|No space left|Read-only file)/i.test(reason)) {
    const todo = 'Nothing was loaded. Create the folder of the file, or make room or rights for it. Then load again.';
    return new ExportError('cannotWrite', message, { todo });
  }
  if (/^IO Error: .*(Is a directory|not a valid DuckDB database)/i.test(reason)) {
    const todo = `Nothing was loaded. Name a new file: --to ${shellWord(`${shown}.duckdb`)}`;
    return new ExportError('usage', `${shown} is not a DuckDB file`, { todo });
  }
  if (!/Could not set lock on file/i.test(reason)) return undefined;
  const [, pid] = /\(PID (\d+)\)/.exec(reason) ?? [];
  const by = pid === undefined ? 'another process' : `the process ${pid}`;
  return new ExportError('unavailable', `${shown} is held by ${by}`, {
    todo: 'Nothing was loaded. Close the file there, or wait until the process ends. Then load again.',
    facts: pid === undefined ? {} : { pid: Number(pid) },
  });
}

function todoFor(reason: string, folder: string, format: string): string {
  if (/\\u0000|surrogate/.test(reason)) {
    if (format !== 'jsonl')
      return 'Rolled back. A column of type jsonb cannot hold this escape: change its type to json, then load again.';
    const url = shellWord(`embedded:${folder}`);
    return `Rolled back. The database cannot read this escape in JSONL. Export as csv or parquet (no credits with --url ${url}) and load that.`;
  }
  if (/stack depth/i.test(reason))
    return 'Rolled back. Raise max_stack_depth of the server, or leave the column out (output.exclude), then load again.';
  if (/duplicate key/i.test(reason))
    return 'Rolled back. A unique index or constraint of the table refuses these rows. Drop it, then run load again.';
  if (/row-level security/i.test(reason))
    return 'Rolled back. A policy hides rows of the table from this role. Load as the owner of the table, or as a role with BYPASSRLS.';
  if (/column/i.test(reason))
    return 'Rolled back. An existing table has different columns. Alter or drop it and run load again.';
  return 'Rolled back. Fix the cause and run load again.';
}

/** The state of PostgreSQL for a lock that was not granted in time. */
export const lockNotGranted = '55P03';

/** What failed after COMMIT. */
export function notMade(what: string, error: unknown, todo: string): ExportError {
  const message = `the rows are loaded, ${what} is not: ${shownReason(messageOf(error))}`;
  if (isUnreachable(error))
    return new ExportError('unavailable', message, { todo: 'Run load again with the same flags.' });
  if (codeOf(error) !== lockNotGranted) return new ExportError('loadFailed', message, { todo });
  return new ExportError('unavailable', message, {
    todo: 'Run load again with the same flags when the transactions end that have read or changed it.',
  });
}
