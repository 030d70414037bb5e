import { dirname } from 'node:path';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import type { Disk, Reads } from '../places/files/disk.ts';
import { piecesOf } from '../places/export/part-bytes.ts';
import { openFinished } from './finished-export.ts';

export interface ExportCopy {
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
