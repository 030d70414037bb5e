import { mkdirSync, rmSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { join } from 'node:path';
import { open } from 'lmdb';
import { makeLmdbFiles } from './lmdb-files.ts';
import { writeKey } from '../asset-key.ts';
import { recordsLayout } from './lmdb-store.ts';
import { type AssetSource, readRecords } from './read-records.ts';
import { sortedEntries } from './sorted-entries.ts';
import { keyBytes, SpillFiles } from './spill-files.ts';

export interface BuildOptions {
  /** An empty or missing folder, to hold the store. */
  readonly folder: string;
  /** Maximum bytes sorted in memory at once; default 64 MiB. */
  readonly sortBytes?: number;
}

/**
 * Builds a store from files of any size in a bounded amount of memory: records are spilled into files by the first byte
 * of their keys, and these are appended to the store in the order of keys, which fills its pages. Needs twice the
 * store's size on disk meanwhile.
 * @returns how many assets it holds.
 * @throws {ExportError} `input`
 */
export async function buildStore(
  source: AssetSource,
  { folder, sortBytes = 64 * 1024 * 1024 }: BuildOptions,
): Promise<number> {
  mkdirSync(folder, { recursive: true });
  const spillFolder = join(folder, 'spill');
  const spill = new SpillFiles(spillFolder, 0);
  try {
    const key = Buffer.alloc(keyBytes);
    for await (const records of readRecords(source)) {
      for (const { id, packed } of records) {
        writeKey(id, key);
        spill.add({ key, packed });
      }
    }
    return await appendSorted(folder, spill.finish(), sortBytes);
  } finally {
    spill.close();
    rmSync(spillFolder, { recursive: true, force: true });
  }
}

/** Nothing has the store open before it is whole: so it is synced once, at the end. */
async function appendSorted(folder: string, files: readonly string[], sortBytes: number): Promise<number> {
  makeLmdbFiles({ path: folder });
  const database = open<Buffer, Buffer>({ path: folder, noSync: true, ...recordsLayout });
  let count = 0;
  try {
    for (const file of files) {
      for await (const entries of sortedEntries(file, 0, sortBytes)) {
        database.transactionSync(() => {
          for (const { key, packed } of entries) database.putSync(key, packed, { append: true });
        });
        count += entries.length;
      }
    }
  } finally {
    await database.close();
  }
  await sync(join(folder, 'data.mdb'));
  return count;
}

export async function sync(path: string): Promise<void> {
  const file = await openFile(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
