import { chmod, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { onDisk } from '../../lib/disk/on-disk.ts';
import { diskFileStore } from './file-store.ts';

/** The file that a path leads to, over links. */
export function realFile(path: string): Promise<string> {
  return onDisk(`look at ${path}`, () => realpath(path));
}

/** Puts a whole new file in the place of another, with its mode. Who has the other one open goes on with it. */
export async function takePlace(made: string, file: string): Promise<void> {
  await onDisk(`set the mode of ${made}`, async () => chmod(made, (await stat(file)).mode));
  const opened = await diskFileStore.open(made, 'update');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
  await onDisk(`rename ${made} to ${file}`, () => rename(made, file));
  await diskFileStore.syncFolder(dirname(file));
}
