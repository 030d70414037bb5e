import { randomUUID } from 'node:crypto';
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { open, type RootDatabase } from 'lmdb';
import { writeKey } from './asset-key.ts';
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
    // lmdb tells readers apart by their pids, which are the same in containers. It needs to know of them only where
    // someone writes: so each has a list of its own, beside a link to the records, which open files outlive.
    const own = `${folder}-${randomUUID()}`;
    try {
      mkdirSync(own);
      linkSync(join(folder, 'data.mdb'), join(own, 'data.mdb'));
      this.#database = open<Buffer, Buffer>({ path: own, readOnly: true, ...recordsLayout });
    } finally {
      rmSync(own, { recursive: true, force: true });
    }
    this.count = count;
  }

  get(id: string): Buffer | undefined {
    writeKey(id, this.#key);
    return this.#database.getBinaryFast(this.#key);
  }

  async close(): Promise<void> {
    await this.#database.close();
  }
}
