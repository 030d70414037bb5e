import { randomUUID } from 'node:crypto';
import { linkSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from './export-error.ts';

/** Of lmdb's list of readers, which is a little more than half of it unless told. */
const listBytes = 16_384;

/** More than lmdb writes when it opens a file that is not there, and then for the first time. */
const roomBytes = 4 * listBytes;

const noRoom: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

/** Where lmdb keeps its files: in a folder, or beside each other. */
interface LmdbPlace {
  readonly path: string;
  readonly noSubdir?: boolean;
}

/**
 * Makes the file in which lmdb lists its readers, and sees that there is room for its data, unless both are there. lmdb makes the
 * list as a hole and maps it into memory, where a hole that the disk has no room to fill ends the program, as does no room for
 * the data. The list appears whole: another process may open it at that moment. Where no link can be made, it is left to lmdb.
 * @throws what the disk says, when it is full for example
 */
export function makeLmdbFiles({ path, noSubdir = false }: LmdbPlace): void {
  const [data, readers] = noSubdir ? [path, `${path}-lock`] : [join(path, 'data.mdb'), join(path, 'lock.mdb')];
  if (hasBytes(data) && hasBytes(readers)) return;
  const list = `${readers}-${randomUUID()}`;
  try {
    writeFileSync(list, Buffer.alloc(roomBytes));
    truncateSync(list, listBytes);
    linkUnlessThere(list, readers);
  } finally {
    rmSync(list, { force: true });
  }
}

function hasBytes(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function linkUnlessThere(list: string, path: string): void {
  try {
    linkSync(list, path);
  } catch (error) {
    // Else it is there by now, or there are no links.
    if (noRoom.has(codeOf(error))) throw error;
  }
}
