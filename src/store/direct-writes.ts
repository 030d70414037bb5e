import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { beginsAtPage, pageBytes } from '../lib/aligned-memory.ts';
import { codeOf } from '../lib/export-error.ts';

/** Fewer bytes are worth no trip to the disk of their own. */
export const fewestDirectBytes = 256 * 1024;

const refusals: ReadonlySet<string | undefined> = new Set(['EINVAL', 'EOPNOTSUPP', 'ENOTSUP']);

/** What is asked of a file that was opened for direct writes. */
export type DirectFile = Pick<FileHandle, 'write' | 'close'>;

/**
 * Writes past the system's page cache: a copy into it costs the processor more than the write itself, and tables that nobody
 * reads soon would push out of it what others need. Only for whole pages of memory and of the file, and only where
 * the system and the file's disk can: what is not written here is left to an ordinary write.
 */
export class DirectWrites {
  readonly #openFile: () => Promise<DirectFile | undefined>;
  #file: DirectFile | undefined;
  #refused = false;

  /** @param openFile opens the file a second time, without emptying it; undefined where that cannot be */
  constructor(openFile: () => Promise<DirectFile | undefined>) {
    this.#openFile = openFile;
  }

  /**
   * Writes as many of the leading bytes as it can.
   * @returns how many were written: 0 where none can be
   * @throws what the disk says, when it is full for example
   */
  async write(bytes: Uint8Array, position: number): Promise<number> {
    const length = bytes.length - (bytes.length % pageBytes);
    if (this.#refused || length < fewestDirectBytes || position % pageBytes !== 0 || !beginsAtPage(bytes)) return 0;
    try {
      this.#file ??= await this.#openFile();
      if (this.#file !== undefined) return (await this.#file.write(bytes, 0, length, position)).bytesWritten;
    } catch (error) {
      // Pages larger than ours, or a file system that opens such files and then takes no direct write.
      if (!refusals.has(codeOf(error))) throw error;
    }
    this.#refused = true;
    return 0;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#refused = true;
    await file?.close();
  }
}

/** Opens a file that is there for direct writes; undefined where its disk has none. Linux only, where alone memory is known to begin at a page. */
export async function openDirectly(path: string): Promise<DirectFile | undefined> {
  // Whatever keeps it from being opened a second time does not keep it from being written.
  return open(path, constants.O_WRONLY | constants.O_DIRECT).catch(() => undefined);
}
