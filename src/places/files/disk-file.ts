import type { FileHandle } from 'node:fs/promises';
import { thenCleanUp } from '../../lib/clean-up.ts';
import { onDisk } from '../../lib/disk/disk-error.ts';
import type { DirectWrites } from '../scratch/direct-writes.ts';
import type { OpenFile } from './open-file.ts';

/** What is asked of an open file of the system. */
export type SystemFile = Pick<FileHandle, 'write' | 'read' | 'datasync' | 'truncate' | 'stat' | 'close'>;

/**
 * An open file whose reads and writes are whole, however few bytes the system takes at a time.
 * @param direct takes what it can of each write, past the page cache
 */
export function wholeFile(path: string, file: SystemFile, direct?: DirectWrites): OpenFile {
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
