import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { codeOf, ExportError } from '../lib/export-error.ts';

/** One open file. Writes are whole (short writes are continued) and in the order they were awaited. */
export interface OpenFile {
  /** Writes at `position`, or after what was written last. */
  write(bytes: Uint8Array, position?: number): Promise<void>;
  read(position: number, length: number): Promise<Uint8Array>;
  /** Makes the file's bytes survive a loss of power. Never tried twice: a failed sync leaves nothing to trust. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** `create` empties the file; `update` keeps its bytes and makes it when absent; `read` needs it to be there. */
export type OpenMode = 'create' | 'update' | 'read';

/** Everything the store does to a disk: few operations, so that tests can make any one of them fail. */
export interface FileStore {
  open(path: string, mode: OpenMode): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a folder with all in it; what is not there is no error. */
  remove(path: string): Promise<void>;
  makeFolder(path: string): Promise<void>;
  /** Makes new names in a folder survive a loss of power. */
  syncFolder(path: string): Promise<void>;
  /** Names in a folder, sorted; none when it is absent. */
  list(path: string): Promise<string[]>;
  /** The whole of a small file, or undefined when it is absent. */
  readAll(path: string): Promise<Uint8Array | undefined>;
}

const flagsOf = {
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
  update: constants.O_RDWR | constants.O_CREAT,
  read: constants.O_RDONLY,
} as const;

export const diskFileStore: FileStore = {
  open: (path, mode) => onDisk(`open ${path}`, async () => openFile(path, await open(path, flagsOf[mode], 0o644))),
  rename: (from, to) => onDisk(`rename ${from} to ${to}`, () => rename(from, to)),
  remove: (path) => onDisk(`remove ${path}`, () => rm(path, { recursive: true, force: true })),
  makeFolder: (path) =>
    onDisk(`make the folder ${path}`, async () => {
      await mkdir(path, { recursive: true });
    }),
  syncFolder: (path) => onDisk(`sync the folder ${path}`, () => syncFolder(path)),
  list: (path) =>
    onDisk(`list ${path}`, async () => {
      try {
        return (await readdir(path)).sort();
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return [];
        throw error;
      }
    }),
  readAll: (path) =>
    onDisk(`read ${path}`, async () => {
      try {
        const file = await open(path, constants.O_RDONLY);
        try {
          return await file.readFile();
        } finally {
          await file.close();
        }
      } catch (error) {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      }
    }),
};

function openFile(path: string, file: FileHandle): OpenFile {
  let end = 0;
  return {
    write: (bytes, position = end) =>
      onDisk(`write ${path}`, async () => {
        for (let done = 0; done < bytes.length; ) {
          const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
          done += bytesWritten;
        }
        end = position + bytes.length;
      }),
    read: (position, length) =>
      onDisk(`read ${path}`, async () => {
        const bytes = Buffer.allocUnsafe(length);
        let done = 0;
        while (done < length) {
          const { bytesRead } = await file.read(bytes, done, length - done, position + done);
          if (bytesRead === 0) break;
          done += bytesRead;
        }
        return bytes.subarray(0, done);
      }),
    sync: () => onDisk(`sync ${path}`, () => file.datasync()),
    truncate: (length) => onDisk(`truncate ${path}`, () => file.truncate(length)),
    size: () => onDisk(`look at ${path}`, async () => (await file.stat()).size),
    close: () => onDisk(`close ${path}`, () => file.close()),
  };
}

/** Syncs the folders of `paths` and those above them up to and with `top`, each once. */
export async function syncFoldersOf(files: FileStore, top: string, paths: readonly string[]): Promise<void> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); !relative(top, folder).startsWith('..'); folder = dirname(folder)) {
      folders.add(folder);
      if (folder === top) break;
    }
  }
  for (const folder of folders) await files.syncFolder(folder);
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const causes: Readonly<Record<string, string>> = {
  ENOSPC: 'no space is left on the disk',
  EDQUOT: 'the disk quota is used up',
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

async function onDisk<T>(what: string, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation();
  } catch (error) {
    const code = codeOf(error) ?? 'unknown';
    throw new ExportError('cannotWrite', `cannot ${what}: ${causes[code] ?? String(error)} (${code})`, {
      todo: 'Make room or mend the permission, then run the same command again: it goes on where it stopped.',
      facts: { code },
      cause: error,
    });
  }
}
