import { codeOf, ExportError } from '../export-error.ts';
import { shortageIn } from '../process/shortage.ts';

const causes: Readonly<Record<string, string>> = {
  ENOSPC: 'no space left on the disk',
  EDQUOT: 'disk quota exceeded',
  EFBIG: 'file size limit of this process exceeded',
  EACCES: 'permission denied',
  EPERM: 'operation not permitted',
  EROFS: 'read-only file system',
  EIO: 'the disk reports an input/output error',
  EMFILE: 'too many open files in this process',
  ENFILE: 'too many open files on this machine',
  ENOTDIR: 'a file has the name of this folder',
  EEXIST: 'a file has the name of this folder',
  EISDIR: 'a folder has the name of this file',
  ENOENT: 'it does not exist',
};

/** Runs an operation on the disk; what it throws says what could not be done, and why. @throws {ExportError} `cannotWrite` */
export async function onDisk<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw diskError(what, error);
  }
}

/** The error of the system that stopped an operation, in words. */
export function diskError(what: string, error: unknown): ExportError {
  const code = codeOf(error) ?? 'unknown';
  return new ExportError('cannotWrite', `cannot ${what}: ${causes[code] ?? String(error)} (${code})`, {
    todo: shortageIn(error)?.todo ?? todoFor(code),
    facts: { code },
    cause: error,
  });
}

function todoFor(code: string): string {
  return /^(ENOTDIR|EEXIST|EISDIR|ENOENT)$/.test(code)
    ? 'Choose another folder, or move the file that is in the way.'
    : 'Free disk space or fix the permission, then run the same command again.';
}
