import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { isNothingThere } from '../export-error.ts';

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
