import { chmod, chown, realpath, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { onDisk } from '../../lib/disk/on-disk.ts';
import { localDisk } from './disk.ts';
import { removeEmpty, takeLock } from './lock.ts';

/** The file that a path leads to, over links. */
export function realFile(path: string): Promise<string> {
  return onDisk(`look at ${path}`, () => realpath(path));
}

/** Gives a new file the owner and the group of another. Resolves to whether that could be done: it may need root. */
export async function takeOwner(made: string, file: string): Promise<boolean> {
  const [now, wanted] = await onDisk(`look at ${file}`, () => Promise.all([stat(made), stat(file)]));
  if (now.uid === wanted.uid && now.gid === wanted.gid) return true;
  return chown(made, wanted.uid, wanted.gid).then(
    () => true,
    () => false,
  );
}

/** Puts a whole new file in the place of another, with its mode. Who has the other one open goes on with it. */
export async function replaceFile(made: string, file: string): Promise<void> {
  await onDisk(`set the mode of ${made}`, async () => chmod(made, (await stat(file)).mode));
  const opened = await localDisk.open(made, 'update');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
  await onDisk(`rename ${made} to ${file}`, () => rename(made, file));
  await localDisk.syncFolder(dirname(file));
}

/**
 * Takes a file for the one process that may put another in its place, by a lock in a folder beside it. Resolves to what lets it go.
 * @throws {ExportError} `locked`, naming the owner; `cannotWrite` where the folder takes no lock
 */
export async function takeFile(file: string): Promise<() => Promise<void>> {
  const folder = `${file}.lock`;
  const lock = await takeLock(folder);
  return async () => {
    await lock.remove();
    removeEmpty(folder);
  };
}
