import { createHash } from 'node:crypto';
import { closeSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { CheckedId } from '../../../../src/lib/ids/checked-id.ts';
import { codeOf } from '../../../../src/lib/export-error.ts';
import { wordsPerHash } from '../../../../src/lib/hash/hash-128.ts';
import { KeyTable } from '../../../../src/lib/hash/key-table.ts';
import type { AssetStore } from './asset-store.ts';
import { entry, layoutVersion, storeFiles } from './index-layout.ts';

/** Entries that are read at once. */
const entriesPerRead = 32_768;
const bytesPerEntry = entry.words * Uint32Array.BYTES_PER_ELEMENT;

const accountSchema = z.object({
  layoutVersion: z.literal(layoutVersion),
  recordsBytes: z.int(),
  indexHash: z.string(),
});

/** Where the records of a store lie, by the hashes of their ids. */
interface Places {
  readonly table: KeyTable;
  /** By the slots of the table; the lengths are its values. */
  readonly from: Float64Array;
}

/** Records in a file, which any number of services may have open. Memory holds where each lies: 36 bytes an asset. */
export class IndexedStore implements AssetStore {
  readonly #id = new CheckedId();
  readonly #hash = new Uint32Array(wordsPerHash);
  readonly #places: Places;
  readonly #records: number;
  #bytes = Buffer.allocUnsafeSlow(1 << 16);

  private constructor(records: number, places: Places) {
    this.#records = records;
    this.#places = places;
  }

  /** Opens a store; undefined where there is none, or it was cut or emptied since it was built. */
  static open(folder: string): IndexedStore | undefined {
    try {
      const account = accountSchema.parse(JSON.parse(readFileSync(join(folder, storeFiles.account), 'utf8')));
      const path = join(folder, storeFiles.records);
      if (statSync(path).size !== account.recordsBytes) return undefined;
      const places = readIndex(join(folder, storeFiles.index), account.indexHash);
      return places === undefined ? undefined : new IndexedStore(openSync(path, 'r'), places);
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof SyntaxError || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  get count(): number {
    return this.#places.table.size;
  }

  get(id: string): Buffer | undefined {
    if (!this.#id.readText(id)) return undefined;
    this.#id.hashTo(this.#hash, 0);
    const { table } = this.#places;
    const slot = table.find(this.#hash, 0);
    return slot < 0 ? undefined : this.#at(slot);
  }

  *records(): Generator<Buffer> {
    const { table, from } = this.#places;
    const slots = Uint32Array.from({ length: table.slots }, (_, slot) => slot).filter((slot) => table.value(slot) > 0);
    // In the order of the file, which is read ahead by the system.
    for (const slot of slots.sort((left, right) => (from[left] ?? 0) - (from[right] ?? 0))) yield this.#at(slot);
  }

  #at(slot: number): Buffer {
    const { table, from } = this.#places;
    const length = table.value(slot);
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(2 * length);
    const record = this.#bytes.subarray(0, length);
    if (readWhole(this.#records, record, from[slot] ?? 0) < length)
      throw new Error('the store was cut while it was open');
    return record;
  }

  async close(): Promise<void> {
    closeSync(this.#records);
  }
}

/** @returns undefined where the file is another one than was built */
function readIndex(path: string, indexHash: string): Places | undefined {
  const table = new KeyTable(Math.ceil(statSync(path).size / bytesPerEntry));
  const from = new Float64Array(table.slots);
  const words = new Uint32Array(entriesPerRead * entry.words);
  const bytes = new Uint8Array(words.buffer);
  const hash = createHash('sha256');
  const file = openSync(path, 'r');
  try {
    for (let length = bytes.length, position = 0; length === bytes.length; position += length) {
      length = readWhole(file, bytes, position);
      hash.update(bytes.subarray(0, length));
      for (let at = 0; at * 4 < length; at += entry.words) {
        const slot = table.add(words, at);
        table.setValue(slot, words[at + entry.lengthAt] ?? 0);
        from[slot] = (words[at + entry.fromAt] ?? 0) + (words[at + entry.fromAt + 1] ?? 0) * 2 ** 32;
      }
    }
  } finally {
    closeSync(file);
  }
  return hash.digest('hex') === indexHash ? { table, from } : undefined;
}

/** Fills the bytes from a file, as far as it goes. @returns how many there were */
function readWhole(file: number, bytes: Uint8Array, position: number): number {
  let done = 0;
  for (let read = 1; read > 0 && done < bytes.length; done += read)
    read = readSync(file, bytes, done, bytes.length - done, position + done);
  return done;
}
