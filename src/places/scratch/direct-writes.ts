import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { codeOf } from '../../lib/export-error.ts';
import { beginsAtPage, pageBytes } from '../../lib/buffer-pool.ts';

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
export function directWritesTo({ fd }: { readonly fd: number }): DirectWrites | undefined {
  if (process.platform !== 'linux') return undefined;
  // By number: the name may lead to another file by now.
  const again = `/proc/self/fd/${fd}`;
  return new DirectWrites(() => open(again, constants.O_WRONLY | constants.O_DIRECT));
}
