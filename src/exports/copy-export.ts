import { dirname } from 'node:path';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import type { Disk, Reads } from '../places/files/disk.ts';
import { piecesOf } from '../places/export/part-bytes.ts';
import { openFinished } from './finished-export.ts';
import { randomUUID } from 'node:crypto';
import { thenCleanUp } from '../lib/end-work.ts';
import { ExportError } from '../lib/export-error.ts';

interface ExportCopy {
  readonly from: Reads;
  /** The export to copy. */
  readonly folder: string;
  readonly to: Disk;
  /** Local folder of the copy. `copyExport` removes what is there. */
  readonly target: string;
}

/** Copies the manifest of a complete export and every file that it names. @throws {ExportError} as `openFinished` */
export async function copyExport(copy: ExportCopy): Promise<void> {
  const { manifest } = await openFinished(copy.folder, copy.from);
  await copy.to.remove(copy.target);
  await copyFiles(copy, [...manifest.files.map(({ path }) => path), exportPaths.manifest]);
}

/** Copies some files of an export. @param paths relative to it */
export async function copyFiles({ from, folder, to, target }: ExportCopy, paths: readonly string[]): Promise<void> {
  for (const name of paths) {
    const path = pathIn(target, name);
    await to.makeFolder(dirname(path));
    const source = await from.open(pathIn(folder, name));
    try {
      const file = await to.open(path, 'create');
      try {
        for await (const piece of piecesOf(source)) await file.write(piece);
      } finally {
        await file.close();
      }
    } finally {
      await source.close();
    }
  }
}

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
