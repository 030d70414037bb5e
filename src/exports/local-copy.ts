import { randomUUID } from 'node:crypto';
import { thenCleanUp } from '../lib/end-work.ts';
import { ExportError } from '../lib/export-error.ts';
import { pathIn } from '../places/export/export-folder.ts';
import type { Disk, Reads } from '../places/files/disk.ts';
import { copyExport } from './copy-export.ts';

/** Runs work on a copy of a complete export, which is removed after it, as are copies of processes that died. */
export async function onCopy<T>(
  {
    from,
    folder,
    disk,
    copies,
  }: {
    readonly from: Reads;
    /** The export to copy. */
    readonly folder: string;
    readonly disk: Disk;
    /** Local folder of the copies; each has a folder and a lock of its own. */
    readonly copies: string;
  },
  work: (folder: string) => Promise<T>,
): Promise<T> {
  await removeDeadCopies(disk, copies);
  const own = pathIn(copies, randomUUID());
  const lock = await disk.takeLock(own);
  return thenCleanUp({
    work: async () => {
      const target = pathIn(own, 'export');
      await copyExport({ from, folder, to: disk, target });
      return work(target);
    },
    cleanUp: [() => lock.release(), () => disk.remove(own)],
  });
}

async function removeDeadCopies(disk: Disk, copies: string): Promise<void> {
  for (const name of await disk.list(copies)) {
    const copy = pathIn(copies, name);
    try {
      const lock = await disk.takeLock(copy);
      await disk.remove(copy);
      await lock.release();
    } catch (error) {
      // Another process reads this copy, or it cannot be removed: neither stops this one.
      if (!(error instanceof ExportError)) throw error;
    }
  }
}
