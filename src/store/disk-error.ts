import { codeOf, ExportError } from '../lib/export-error.ts';

const causes: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than this process may make one',
  EACCES: 'permission is denied',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
  EIO: 'the disk reports an input/output error',
  EMFILE: 'too many files are open in this process',
  ENFILE: 'too many files are open on this machine',
  ENOTDIR: 'a file stands where a folder should be',
  EEXIST: 'a file stands where a folder should be',
  EISDIR: 'a folder stands where a file should be',
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
    todo: /^(ENOTDIR|EEXIST|EISDIR|ENOENT)$/.test(code)
      ? 'Choose another folder, or move what stands in the way.'
      : 'Make room or mend the permission, then run the same command again.',
    facts: { code },
    cause: error,
  });
}
