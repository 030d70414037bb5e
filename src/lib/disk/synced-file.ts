import { closeSync, fdatasync, fstatSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { syncFolder } from './make-folder.ts';

const sync = promisify(fdatasync);

/** An open file that is written at once and synced later, one sync for all who wait. */
export class SyncedFile {
  readonly fd: number;
  readonly inode: number;
  #running = Promise.resolve();
  #next: Promise<void> | undefined;
  #named: Promise<void> | undefined;

  constructor(fd: number) {
    this.fd = fd;
    this.inode = fstatSync(fd).ino;
  }

  write(bytes: Uint8Array, position: number): void {
    // A write may be short; the next one says why.
    for (let done = 0; done < bytes.length; )
      done += writeSync(this.fd, bytes, done, bytes.length - done, position + done);
  }

  /** Resolves when what is written by now is on the disk, and the file's name in its folder. */
  async synced(folder: string): Promise<void> {
    this.#named ??= syncFolder(folder);
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#running = sync(this.fd);
        this.#next = undefined;
        return this.#running;
      });
    await Promise.all([this.#named, this.#next]);
  }

  /** Closes it after the syncs that were asked for. */
  async close(): Promise<void> {
    await Promise.allSettled([this.#next, this.#running]);
    closeSync(this.fd);
  }
}
