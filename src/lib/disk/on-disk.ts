import { closeSync, constants, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { mkdir, mkdtemp, open, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf, ExportError, isNothingThere, shortageIn } from '../export-error.ts';

/** Codes beside those of the system. */
export const notPlain = 'ENOTPLAIN';
export const tooLarge = 'ETOOLARGE';

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
  ELOOP: 'a symbolic link has the name of this file',
  [notPlain]: 'it is a pipe or a device',
  [tooLarge]: 'it is larger than 512 MB',
};

/** Runs an operation on the disk; what it throws says what could not be done, and why. @throws {ExportError} `cannotWrite` */
export async function onDisk<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    throw error instanceof ExportError ? error : diskError(what, error);
  }
}

/** Opens a plain file without waiting. @throws {ExportError} `cannotWrite` for a pipe or a device, which may have no end; else what the system says */
export function openPlainSync(path: string, flags: number = constants.O_RDONLY): number {
  const file = openSync(path, flags | constants.O_NONBLOCK);
  const found = fstatSync(file);
  if (found.isFile()) return file;
  closeSync(file);
  throw diskError(`open ${path}`, Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : notPlain }));
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
  return /^(ENOTDIR|EEXIST|EISDIR|ENOENT|ELOOP|ENOTPLAIN|ETOOLARGE)$/.test(code)
    ? 'Choose another folder, or move the file that is in the way.'
    : 'Free disk space or fix the permission, then run the same command again.';
}

/** What disks without links of one kind say: exFAT, SMB shares, some disks of networks and of FUSE. */
const linkRefusals: ReadonlySet<string | undefined> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** Whether a link could not be made because the disk has none. */
export function refusesLinks(error: unknown): boolean {
  return linkRefusals.has(codeOf(error instanceof ExportError ? error.cause : error));
}

/** What needs links of each kind, and what to do on a disk without them. */
const linkUses = {
  hard: {
    user: 'a lock',
    todo: 'Choose a folder on another disk (ext4, XFS, APFS, NTFS) or a bucket, and copy the files when they are complete.',
  },
  symbolic: {
    user: 'the ledger',
    todo: 'Name a folder on another disk (ext4, XFS, APFS, NTFS) with --state-dir or ASSET_EXPORT_STATE.',
  },
};

export type LinkKind = keyof typeof linkUses;

/** The disk of a folder lacks links that are needed. */
export function withoutLinks(folder: string, kind: LinkKind): ExportError {
  const { user, todo } = linkUses[kind];
  return new ExportError('cannotWrite', `the disk of ${folder} has no ${kind} links, which ${user} needs`, { todo });
}

/**
 * Makes a folder and those above it, with the permissions `mode`; when it resolves they survive a loss of power.
 * One folder at a time: Node's recursive mkdir never returns where none can be made (/proc), and names the wrong cause.
 * Other processes may make the same ones: a missing parent may exist by now, so one more attempt decides.
 */
export async function makeFolder(path: string, mode = 0o777): Promise<void> {
  try {
    await makeOne(path, mode);
  } catch (error) {
    const parent = dirname(path);
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    if (!existsSync(parent)) await makeFolder(parent, mode);
    await makeOne(path, mode);
  }
}

async function makeOne(path: string, mode: number): Promise<void> {
  try {
    await mkdir(path, mode);
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(path)).isDirectory()) return;
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a folder for what is needed for a while. The caller removes it. @throws {ExportError} `cannotWrite` */
export function makeTemporary(what: string): Promise<string> {
  const folder = tmpdir();
  return onDisk(`make a folder in ${folder} (TMPDIR)`, () => mkdtemp(join(folder, `asset-export-${what}-`)));
}

/** Makes new names in a folder survive a loss of power. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } catch (error) {
    // Some network file systems know no syncing of folders, and keep names by themselves.
    if (codeOf(error) !== 'EINVAL' && codeOf(error) !== 'ENOTSUP') throw error;
  } finally {
    await folder.close();
  }
}

/** Bytes that this user may still write to the disk of a folder, which need not exist yet. */
export type FreeSpace = (folder: string) => Promise<number>;

export const freeSpace: FreeSpace = async (folder) => {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const parent = dirname(folder);
    if (!isNothingThere(error) || parent === folder) throw error;
    return freeSpace(parent);
  }
};

const mostBytes = 1 << 24;

/** How long a pipe may be silent. */
const patienceMs = 10_000;
const lookMs = 10;

/**
 * The text of a small file, such as a job or a key, or of a pipe that its writer ends.
 * @throws {ExportError} `usage` for a device, for more than 16 MB, and for a pipe that is silent; else what the system says
 */
export function readSmallText(path: string): string {
  // Without waiting: a pipe that nobody writes to would keep it waiting for ever.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const found = fstatSync(file);
    if (found.isCharacterDevice() || found.isBlockDevice()) throw unread(path, 'it is a device');
    const pieces: Buffer[] = [];
    let bytes = 0;
    for (let piece = pieceOf(file, path); piece.length > 0; piece = pieceOf(file, path)) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > mostBytes) throw unread(path, 'it is larger than 16 MB');
    }
    return Buffer.concat(pieces).toString('utf8');
  } finally {
    closeSync(file);
  }
}

function pieceOf(file: number, path: string): Buffer {
  const piece = Buffer.allocUnsafe(65_536);
  for (let waitedMs = 0; waitedMs < patienceMs; waitedMs += lookMs) {
    try {
      return piece.subarray(0, readSync(file, piece));
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lookMs);
    }
  }
  throw unread(path, 'it is a pipe that stays silent');
}

function unread(path: string, why: string): ExportError {
  return new ExportError('usage', `cannot read ${path}: ${why}`, { todo: 'Name a plain file.' });
}
