import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { openPlainSync, syncFolder } from '../../../../src/lib/disk/on-disk.ts';
import { codeOf, ExportError } from '../../../../src/lib/export-error.ts';
import { wordsPerHash } from '../../../../src/lib/hash/hash-set-128.ts';
import { KeyTable } from '../../../../src/lib/hash/key-table.ts';
import { CheckedId } from '../../../../src/lib/ids/asset-id.ts';
import type { AssetStore } from './asset-store.ts';
import { type AssetSource, readRecords } from './read-records.ts';
import type { StoredRecord } from './stored-record.ts';

/** Files of a store: JSON lines as loaded, and where each lies. */
export const storeFiles = { records: 'records.jsonl', index: 'index' } as const;

/*
 * The index, in 32-bit words of the machine's order. For each record, in the order of the file: the hash of its id, its length with
 * the mark of an unverified collection, then its place: the low word of its offset, the high byte of that below the count of hidden
 * ranges, the checksum of its text, and these ranges (`StoredRecord.hidden`). Of records with the same hash the last one counts.
 * At the end: the count of records, the length of their file (low, high word), and the checksum of all words before.
 */
const unverifiedMark = 2 ** 31;
const lengthMask = 0x7fff_ffff;
const highBits = 8;
const endWords = 4;
const wordsBeforePlace = wordsPerHash + 1;
const wordsPerPlace = 3;
/** The CRC-32 of any bytes with their CRC-32 behind them, low byte first. */
const wholeChecksum = 0x2144df1c;
const lineBreak = Buffer.from('\n');

/**
 * Builds a store in a new folder from files of any size, in one pass. Memory holds what is read at a time. When it returns, all is on
 * the disk.
 * @throws {ExportError} `input`
 */
export async function buildStore(source: AssetSource, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const records = openSync(join(folder, storeFiles.records), 'w');
  const index = openSync(join(folder, storeFiles.index), 'w');
  const id = new CheckedId();
  const hash = new Uint32Array(wordsPerHash);
  let count = 0;
  let from = 0;
  let checksum = 0;
  const addWords = (words: readonly number[]): void => {
    const bytes = new Uint8Array(Uint32Array.from(words).buffer);
    checksum = crc32(bytes, checksum);
    writeFileSync(index, bytes);
  };
  try {
    for await (const some of readRecords(source)) {
      const words: number[] = [];
      const texts: Buffer[] = [];
      for (const { id: text, record } of some) {
        if (!id.readText(text)) continue;
        id.hashTo(hash, 0);
        const { length } = record.text;
        words.push(...hash, length + (record.isUnverified ? unverifiedMark : 0));
        words.push(from, Math.floor(from / 2 ** 32) + (record.hidden.length << (highBits - 1)), crc32(record.text));
        words.push(...record.hidden);
        texts.push(record.text, lineBreak);
        from += length + 1;
        count += 1;
      }
      if (texts.length === 0) continue;
      writeFileSync(records, Buffer.concat(texts));
      addWords(words);
    }
    addWords([count, from, from / 2 ** 32]);
    addWords([checksum]);
    for (const file of [records, index]) fsyncSync(file);
    await syncFolder(folder);
  } finally {
    for (const file of [records, index]) closeSync(file);
  }
}

/** Where the records of a store lie, by the hashes of their ids. */
interface Places {
  /** A value is the length with the mark, a row where the place begins. */
  readonly table: KeyTable;
  readonly places: Uint32Array;
}

/** Records in a file, which any number of services may have open. Memory holds where each lies. */
export class IndexedStore implements AssetStore {
  readonly #id = new CheckedId();
  readonly #hash = new Uint32Array(wordsPerHash);
  readonly #folder: string;
  readonly #index: Places;
  readonly #records: number;
  #bytes = Buffer.allocUnsafeSlow(1 << 16);

  private constructor(folder: string, records: number, index: Places) {
    this.#folder = folder;
    this.#records = records;
    this.#index = index;
  }

  /** Opens a store; undefined where there is none, something else has its name, its index is damaged, or its records were cut. */
  static open(folder: string): IndexedStore | undefined {
    try {
      const path = join(folder, storeFiles.records);
      const index = readIndex(join(folder, storeFiles.index), statSync(path).size);
      return index === undefined ? undefined : new IndexedStore(folder, openPlainSync(path), index);
    } catch (error) {
      if (error instanceof ExportError || codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  get count(): number {
    return this.#index.table.size;
  }

  get(id: string): StoredRecord | undefined {
    if (!this.#id.readText(id)) return undefined;
    this.#id.hashTo(this.#hash, 0);
    const slot = this.#index.table.find(this.#hash, 0);
    return slot < 0 ? undefined : this.#at(slot);
  }

  *records(): Generator<StoredRecord> {
    const { table } = this.#index;
    const slots = Uint32Array.from({ length: table.slots }, (_, slot) => slot).filter((slot) => table.value(slot) > 0);
    // In the order of the file, which is read ahead by the system.
    for (const slot of slots.sort((left, right) => table.row(left) - table.row(right))) yield this.#at(slot);
  }

  /** @throws {ExportError} `damaged` */
  #at(slot: number): StoredRecord {
    const { table, places } = this.#index;
    const value = table.value(slot);
    const length = value & lengthMask;
    const row = table.row(slot);
    const high = places[row + 1] ?? 0;
    const from = (places[row] ?? 0) + (high & 0xff) * 2 ** 32;
    if (length > this.#bytes.length) this.#bytes = Buffer.allocUnsafeSlow(2 * length);
    const text = this.#bytes.subarray(0, length);
    if (readSync(this.#records, text, 0, length, from) < length || crc32(text) !== places[row + 2])
      throw damaged(this.#folder);
    const at = row + wordsPerPlace;
    const count = 2 * (high >>> highBits);
    const hidden: number[] = [];
    for (let index = 0; index < count; index += 1) hidden.push(places[at + index] ?? 0);
    return { text, isUnverified: value >= unverifiedMark, hidden };
  }

  async close(): Promise<void> {
    closeSync(this.#records);
  }
}

function damaged(folder: string): ExportError {
  return new ExportError('damaged', `the records in ${folder} are damaged`, {
    todo: 'Remove that folder, then start the service again: it builds the store again.',
  });
}

/** @returns undefined where the index is damaged, or belongs to a file of another length */
function readIndex(path: string, recordsBytes: number): Places | undefined {
  const file = openPlainSync(path);
  const chunk = new Uint32Array(1 << 16);
  const bytes = new Uint8Array(chunk.buffer);
  const size = fstatSync(file).size / Uint32Array.BYTES_PER_ELEMENT;
  const read = (from: number): number => readSync(file, bytes, 0, bytes.length, from * Uint32Array.BYTES_PER_ELEMENT);
  try {
    let checksum = 0;
    for (let from = 0; from < size; from += chunk.length) checksum = crc32(bytes.subarray(0, read(from)), checksum);
    if (size < endWords || checksum !== wholeChecksum) return undefined;
    read(size - endWords);
    const [count = 0, low = 0, high = 0] = chunk;
    if (low + high * 2 ** 32 !== recordsBytes) return undefined;
    const table = new KeyTable(count);
    const places = new Uint32Array(size - endWords - count * wordsBeforePlace);
    let position = 0;
    let at = chunk.length;
    const word = (): number => {
      if (at === chunk.length) {
        read(position);
        position += chunk.length;
        at = 0;
      }
      return chunk[at++] ?? 0;
    };
    const hash = new Uint32Array(wordsPerHash);
    let row = 0;
    for (let record = 0; record < count; record += 1) {
      for (let each = 0; each < wordsPerHash; each += 1) hash[each] = word();
      const slot = table.add(hash, 0);
      table.setValue(slot, word());
      table.setRow(slot, row);
      for (let each = 0; each < wordsPerPlace; each += 1) places[row + each] = word();
      const end = row + wordsPerPlace + 2 * ((places[row + 1] ?? 0) >>> highBits);
      for (row += wordsPerPlace; row < end; row += 1) places[row] = word();
    }
    return { table, places };
  } finally {
    closeSync(file);
  }
}
