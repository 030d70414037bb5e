import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { makeLmdbFiles } from './lmdb-files.ts';
import { writeKey } from '../asset-key.ts';
import type { AssetStore } from './asset-store.ts';
import { keyBytes } from './spill-files.ts';

/**
 * How records are kept on disk: raw keys, and pages of 16 KiB, which hold seven records of 2 KB where the usual 4 KiB
 * hold one.
 */
export const recordsLayout = {
  keyEncoding: 'binary',
  encoding: 'binary',
  pageSize: 16_384,
  noMemInit: true,
} as const;

/** Records in an lmdb file, which any number of services may have open. */
export class LmdbStore implements AssetStore {
  readonly count: number;
  readonly #database: RootDatabase<Buffer, Buffer>;
  readonly #key = Buffer.alloc(keyBytes);

  constructor(folder: string, count: number) {
    const own = ownFolder(folder);
    try {
      this.#database = open<Buffer, Buffer>({ path: own ?? folder, readOnly: true, ...recordsLayout });
    } finally {
      if (own !== undefined) rmSync(own, { recursive: true, force: true });
    }
    this.count = count;
  }

  get(id: string): Buffer | undefined {
    writeKey(id, this.#key);
    const bytes = this.#database.getBinaryFast(this.#key);
    // Its memory is longer than its `length`, which newer Node's own methods do not look at.
    return bytes?.subarray(0, bytes.length);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}

/**
 * A folder with a link to the records and a list of readers of its own, needed only while they are opened. lmdb tells
 * readers apart by their pids, which are the same in containers, and need know of them only where someone writes.
 * Undefined where there is no room for it, or no link: then all readers share the store's list.
 */
function ownFolder(folder: string): string | undefined {
  const own = `${folder}-${randomUUID()}`;
  try {
    mkdirSync(own);
    linkSync(join(folder, 'data.mdb'), join(own, 'data.mdb'));
    makeLmdbFiles({ path: own });
    return own;
  } catch {
    rmSync(own, { recursive: true, force: true });
    return undefined;
  }
}
