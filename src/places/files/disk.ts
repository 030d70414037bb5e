import { constants } from 'node:fs';
import { type FileHandle, link, open, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { codeOf, isNothingThere } from '../../lib/export-error.ts';
import type { Lock } from './lock.ts';
import { makeFolder, notPlain, onDisk, refusesLinks, syncFolder, tooLarge } from '../../lib/disk/on-disk.ts';
import { thenCleanUp } from '../../lib/end-work.ts';
import { beginsAtPage, pageBytes } from '../../lib/buffer-pool.ts';

/** A file that is open for reading. */
export interface ReadableFile {
  /** Fewer bytes only at the end of the file. They may come to lie in `memory`, where it is long enough. */
  read(position: number, length: number, memory?: Uint8Array): Promise<Uint8Array>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** A file that is open for writing, too. Writes are whole (short writes are continued) and in the order they were awaited. */
export interface OpenFile extends ReadableFile {
  /** Writes at `position`, or after what was written last. What is left out before `position` reads as any bytes. */
  write(bytes: Uint8Array, position?: number): Promise<void>;
  /** Makes the file's bytes survive a loss of power. Never tried twice: a failed sync leaves nothing to trust. */
  sync(): Promise<void>;
  truncate(length: number): Promise<void>;
}

/** Files to read, wherever they lie: on a disk, or in a bucket. */
export interface Reads {
  open(path: string): Promise<ReadableFile>;
  /** Where a symbolic link leads; undefined for anything else. */
  readLink(path: string): Promise<string | undefined>;
  /** Names in a folder, sorted; none when it is absent. */
  list(path: string): Promise<string[]>;
  /** The same; names of folders, and of links to folders, end with a slash. */
  listMarked(path: string): Promise<string[]>;
  /** The whole of a small file, or undefined when it is absent. */
  readAll(path: string): Promise<Uint8Array | undefined>;
  /** Bytes of a file, `folder` for a folder, undefined for what is absent. */
  sizeOf(path: string): Promise<number | 'folder' | undefined>;
  /** Changes whenever another file gets this name, or the file is written; undefined for what is no file. */
  versionOf(path: string): Promise<string | undefined>;
}

/** Everything that is done to a disk: few operations, so that tests can make any one of them fail. */
export interface Disk extends Reads {
  /** @param mode `create` empties the file; `update` keeps its bytes and makes it when absent; `read`, the default, needs it to be there */
  open(path: string, mode?: 'create' | 'update' | 'read'): Promise<OpenFile>;
  rename(from: string, to: string): Promise<void>;
  /** Gives a file a second name. `taken`: something has it. `refused`: the disk has no hard links. */
  link(from: string, to: string): Promise<'made' | 'taken' | 'refused'>;
  /** Makes a symbolic link. `target` is relative to its folder. */
  makeLink(path: string, target: string): Promise<void>;
  /** Removes a link, a file or a folder with all in it; what is not there is no error. */
  remove(path: string): Promise<void>;
  /** Makes a folder and those above it; when it resolves they survive a loss of power. */
  makeFolder(path: string): Promise<void>;
  /** Makes new names in a folder survive a loss of power. */
  syncFolder(path: string): Promise<void>;
  /** Takes the export in a folder for this process. @throws {ExportError} `locked` */
  takeLock(folder: string): Promise<Lock>;
}

const flagsOf = {
  create: constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC | constants.O_NOFOLLOW,
  update: constants.O_RDWR | constants.O_CREAT | constants.O_NOFOLLOW,
  read: constants.O_RDONLY,
} as const;

export const localDisk: Disk = {
  open: (path, mode = 'read') =>
    onDisk(`open ${path}`, async () => {
      const file = await openPlain(path, flagsOf[mode]);
      return wholeFile(path, file, mode === 'read' ? undefined : directWritesTo(file));
    }),
  rename: (from, to) => onDisk(`rename ${from} to ${to}`, () => rename(from, to)),
  link: (from, to) => onDisk(`link ${from} as ${to}`, () => hardLink(from, to)),
  makeLink: (path, target) => onDisk(`make the link ${path}`, () => symlink(target, path)),
  readLink: (path) => onDisk(`read the link ${path}`, () => absentAs(undefined, linkTarget(path))),
  remove: (path) => onDisk(`remove ${path}`, () => rm(path, { recursive: true, force: true })),
  makeFolder: (path) => onDisk(`make the folder ${path}`, () => makeFolder(resolve(path))),
  syncFolder: (path) => onDisk(`sync the folder ${path}`, () => syncFolder(path)),
  list: (path) => onDisk(`list ${path}`, async () => (await absentAs([], readdir(path))).sort()),
  listMarked: (path) => onDisk(`list ${path}`, () => absentAs([], markedNames(path))),
  readAll: (path) => onDisk(`read ${path}`, () => absentAs(undefined, readWhole(path))),
  sizeOf: (path) =>
    onDisk(`look at ${path}`, async () => {
      const found = await absentAs(undefined, stat(path));
      return found?.isDirectory() === true ? 'folder' : found?.size;
    }),
  versionOf: (path) =>
    onDisk(`look at ${path}`, async () => {
      const found = await absentAs(undefined, stat(path, { bigint: true }));
      return found?.isFile() === true ? `${found.ino}-${found.mtimeNs}-${found.size}` : undefined;
    }),
  // Threads open files too, but hold no lock: they need not load what reads one.
  takeLock: async (folder) => (await import('./lock.ts')).takeLock(folder),
};

/** Syncs the folders of `paths` and those above them up to and with `top`, each once. */
export async function syncFoldersOf(files: Disk, top: string, paths: readonly string[]): Promise<void> {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); !relative(top, folder).startsWith('..'); folder = dirname(folder)) {
      folders.add(folder);
      if (folder === top) break;
    }
  }
  for (const folder of folders) await files.syncFolder(folder);
}

async function hardLink(from: string, to: string): Promise<'made' | 'taken' | 'refused'> {
  try {
    await link(from, to);
    return 'made';
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return 'taken';
    if (refusesLinks(error)) return 'refused';
    throw error;
  }
}

async function linkTarget(path: string): Promise<string | undefined> {
  try {
    return await readlink(path);
  } catch (error) {
    // It is a file or a folder.
    if (codeOf(error) === 'EINVAL') return undefined;
    throw error;
  }
}

async function markedNames(path: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const target = entry.isSymbolicLink() ? await absentAs(undefined, stat(`${path}/${entry.name}`)) : entry;
    if (target !== undefined) found.push(target.isDirectory() ? `${entry.name}/` : entry.name);
  }
  return found.sort();
}

/** Longest text of V8: nothing that is read whole is larger. */
const mostWholeBytes = 2 ** 29 - 24;

/** Opens a plain file; what is written is no link either, which may lead to a file of somebody else. @throws with a code for `onDisk` */
async function openPlain(path: string, flags: number): Promise<FileHandle> {
  // Without waiting: a pipe that nobody writes to would keep it waiting for ever.
  const file = await open(path, flags | constants.O_NONBLOCK, 0o644);
  const found = await file.stat();
  if (found.isFile()) return file;
  await file.close();
  throw Object.assign(new Error(), { code: found.isDirectory() ? 'EISDIR' : notPlain });
}

async function readWhole(path: string): Promise<Uint8Array> {
  const file = await openPlain(path, constants.O_RDONLY);
  try {
    if ((await file.stat()).size > mostWholeBytes) throw Object.assign(new Error(), { code: tooLarge });
    return await file.readFile();
  } finally {
    await file.close();
  }
}

async function absentAs<T, A>(absent: A, work: Promise<T>): Promise<T | A> {
  try {
    return await work;
  } catch (error) {
    if (isNothingThere(error)) return absent;
    throw error;
  }
}

/**
 * An open file whose reads and writes are whole, however few bytes the system takes at a time.
 * @param direct takes what it can of each write, past the page cache
 */
export function wholeFile(
  path: string,
  file: Pick<FileHandle, 'write' | 'read' | 'datasync' | 'truncate' | 'stat' | 'close'>,
  direct?: DirectWrites,
): OpenFile {
  let end = 0;
  return {
    write: (bytes, position = end) =>
      onDisk(`write ${path}`, async () => {
        let done = (await direct?.write(bytes, position)) ?? 0;
        while (done < bytes.length) {
          const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
          done += bytesWritten;
        }
        end = position + bytes.length;
      }),
    read: (position, length, memory) =>
      onDisk(`read ${path}`, async () => {
        const bytes = memory !== undefined && memory.length >= length ? memory : Buffer.allocUnsafe(length);
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
    close: () =>
      onDisk(`close ${path}`, () => thenCleanUp({ work: async () => direct?.close(), cleanUp: [() => file.close()] })),
  };
}

/**
 * Writes a file under a temporary name, syncs it and renames it: under its own name it is whole or not there. That name
 * survives a loss of power when its folder is synced.
 */
export async function writeWhole(
  files: Disk,
  { path, temporary = `${path}.new` }: { readonly path: string; readonly temporary?: string },
  write: (file: OpenFile) => Promise<void>,
): Promise<void> {
  try {
    await writeFile(files, temporary, write);
    await files.rename(temporary, path);
  } catch (error) {
    await files.remove(temporary).catch(() => undefined);
    throw error;
  }
}

/** Writes a new file and syncs its bytes. Its name is safe when its folder is synced. */
export async function writeFile(files: Disk, path: string, write: (file: OpenFile) => Promise<void>): Promise<void> {
  const file = await files.open(path, 'create');
  try {
    await write(file);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A direct write of fewer bytes costs more than a copy into the page cache. */
export const minDirectBytes = 256 * 1024;

/** File systems without direct writes, or with larger pages than ours. */
const refusals: ReadonlySet<string | undefined> = new Set(['EINVAL', 'EOPNOTSUPP', 'ENOTSUP']);

/** An open file that takes whole pages past the page cache. */
export type DirectFile = Pick<FileHandle, 'write' | 'close'>;

/**
 * Writes to an open file past the system's page cache, which saves the copy into it: up to a fifth of an export's CPU time
 * (docs/decisions/0014). What it does not take is left to an ordinary write of the same file.
 */
export class DirectWrites {
  readonly #openAgain: () => Promise<DirectFile>;
  #file: DirectFile | undefined;
  #isRefused = false;

  constructor(openAgain: () => Promise<DirectFile>) {
    this.#openAgain = openAgain;
  }

  /**
   * Writes leading whole pages, where memory and position are those of pages.
   * @returns how many bytes were written, often 0
   * @throws an error of the disk, for example when it is full
   */
  async write(bytes: Uint8Array, position: number): Promise<number> {
    const length = bytes.length - (bytes.length % pageBytes);
    if (this.#isRefused || length < minDirectBytes || position % pageBytes !== 0 || !beginsAtPage(bytes)) return 0;
    try {
      this.#file ??= await this.#openAgain();
      return (await this.#file.write(bytes, 0, length, position)).bytesWritten;
    } catch (error) {
      if (this.#file !== undefined && !refusals.has(codeOf(error))) throw error;
      this.#isRefused = true;
      return 0;
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
  }
}

/** Direct writes to a file that this process has open; undefined where the system has none. */
function directWritesTo({ fd }: { readonly fd: number }): DirectWrites | undefined {
  if (process.platform !== 'linux') return undefined;
  // By number: the name may lead to another file by now.
  const again = `/proc/self/fd/${fd}`;
  return new DirectWrites(() => open(again, constants.O_WRONLY | constants.O_DIRECT));
}
