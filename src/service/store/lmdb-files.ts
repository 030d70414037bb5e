import { randomUUID } from 'node:crypto';
import { closeSync, linkSync, openSync, readSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../../lib/export-error.ts';

/** Maximum of lmdb readers; its own default is a little more than half of this. */
const listBytes = 16_384;

/** More than lmdb writes when it opens a file that is not there, and then for the first time. */
const roomBytes = 4 * listBytes;

const noRoom: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

/** Paths of the lmdb files: in a folder, or next to each other. */
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

/** Where lmdb keeps the things in a meta page, in bytes, and what it begins with: see `MDB_meta` in its mdb.c, version 2. */
const meta = { bytes: 160, markAt: 24, mark: 0xbeefc0de, pageBytesAt: 48, lastPageAt: 144, transactionAt: 152 };

/**
 * Whether a data file has bytes that lmdb cannot map into memory. A whole one begins with two meta pages, and is as long as
 * the newer one says. Where a page is missing the kernel ends the program, and where a meta page is not lmdb's, lmdb does.
 */
export function isCut(path: string): boolean {
  if (!hasBytes(path)) return false;
  const [first, second] = metaPages(path);
  if (first === undefined || second === undefined) return true;
  const { lastPage, pageBytes } = second.transaction > first.transaction ? second : first;
  return statSync(path).size < (lastPage + 1) * pageBytes;
}

interface MetaPage {
  readonly pageBytes: number;
  readonly lastPage: number;
  readonly transaction: number;
}

function metaPages(path: string): (MetaPage | undefined)[] {
  const file = openSync(path, 'r');
  try {
    const first = metaPageAt(file, 0);
    return [first, first === undefined ? undefined : metaPageAt(file, first.pageBytes)];
  } finally {
    closeSync(file);
  }
}

function metaPageAt(file: number, position: number): MetaPage | undefined {
  const bytes = Buffer.alloc(meta.bytes);
  const length = readSync(file, bytes, 0, meta.bytes, position);
  if (length < meta.bytes || bytes.readUInt32LE(meta.markAt) !== meta.mark) return undefined;
  const [lastPage, transaction] = [meta.lastPageAt, meta.transactionAt].map((at) => Number(bytes.readBigUInt64LE(at)));
  return { pageBytes: bytes.readUInt32LE(meta.pageBytesAt), lastPage: lastPage ?? 0, transaction: transaction ?? 0 };
}

/** Where there are none, lmdb makes the file. */
export function hasBytes(path: string): boolean {
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
