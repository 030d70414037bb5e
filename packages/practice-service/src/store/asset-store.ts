import type { StoredRecord } from './stored-record.ts';

/** Where the service has its records from. */
export interface AssetStore {
  /** Assets held. */
  readonly count: number;
  get(id: string): StoredRecord | undefined;
  /** All records, each valid until the next; absent: it makes those that it is asked for, and knows of no others. */
  records?(): Iterable<StoredRecord>;
  /** Becomes another number when its records become others; absent: they never do. */
  readonly version?: number;
  close(): Promise<void>;
}

/** Assets that are held in memory at most; more want a store on disk. */
export const memoryAssets = 200_000;

/** Keeps records in memory. The last record of an id is the one that is served. */
export class MemoryStore implements AssetStore {
  readonly #records = new Map<string, StoredRecord>();

  get count(): number {
    return this.#records.size;
  }

  put(id: string, record: StoredRecord): void {
    this.#records.set(id, record);
  }

  get(id: string): StoredRecord | undefined {
    return this.#records.get(id);
  }

  records(): Iterable<StoredRecord> {
    return this.#records.values();
  }

  async close(): Promise<void> {
    this.#records.clear();
  }
}
