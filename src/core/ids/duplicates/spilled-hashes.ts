import { HashSet128 } from '../../../lib/hash/hash-set-128.ts';
import { wordsPerHash } from '../../../lib/hash/hash-128.ts';
import type { FileStore } from '../../../places/files/file-store.ts';
import { pathIn } from '../../../places/export/export-folder.ts';
import type { OpenFile } from '../../../places/files/open-file.ts';
import { RepeatedEntries } from './repeated-entries.ts';

/** Hashes go into so many files, by eight of their bits; the table of one file at a time is in memory. */
const spillFiles = 256;

/** A hash, and the number of its entry in two words. */
const wordsPerRecord = 6;

/** Records of a file that are written at once: 24 KB. */
const recordsAtOnce = 1024;

/** Records of a file that are read at once. */
const recordsRead = 32_768;

const twoWords = 2 ** 32;

/** The hashes of valid ids on disk, in the order of their entries: 24 bytes an id. */
export class SpilledHashes {
  readonly #files: FileStore;
  readonly #folder: string;
  readonly #spills: Spill[];

  /** @param folder is emptied */
  static async create(files: FileStore, folder: string): Promise<SpilledHashes> {
    await files.remove(folder);
    await files.makeFolder(folder);
    const spills: Spill[] = [];
    try {
      for (let index = 0; index < spillFiles; index += 1) {
        const file = await files.open(pathIn(folder, `hashes-${index}`), 'create');
        spills.push({ file, records: new Uint32Array(recordsAtOnce * wordsPerRecord), used: 0, bytes: 0 });
      }
    } catch (error) {
      await closeAll(spills);
      throw error;
    }
    return new SpilledHashes(files, folder, spills);
  }

  private constructor(files: FileStore, folder: string, spills: Spill[]) {
    this.#files = files;
    this.#folder = folder;
    this.#spills = spills;
  }

  /** Adds hashes, four words each. @param entryOf the number of the entry of each, by its place */
  async add(hashes: Uint32Array, entryOf: (place: number) => number): Promise<void> {
    for (let place = 0; place < hashes.length / wordsPerHash; place += 1) {
      const from = place * wordsPerHash;
      const spill = this.#spills[((hashes[from + 3] ?? 0) >>> 8) % spillFiles];
      if (spill === undefined) throw new Error('a file of hashes is missing');
      const { records } = spill;
      const to = spill.used * wordsPerRecord;
      for (let word = 0; word < wordsPerHash; word += 1) records[to + word] = hashes[from + word] ?? 0;
      const entry = entryOf(place);
      records[to + wordsPerHash] = entry % twoWords;
      records[to + wordsPerHash + 1] = Math.floor(entry / twoWords);
      spill.used += 1;
      if (spill.used === recordsAtOnce) await flush(spill);
    }
  }

  /** The entries whose hash came before; the hashes are removed. */
  async repeated(stop: AbortSignal): Promise<RepeatedEntries> {
    for (const spill of this.#spills) await flush(spill);
    const repeated = new RepeatedEntries(this.#files, this.#folder);
    const finder = new RepeatFinder(repeated);
    for (const [index, { file, bytes }] of this.#spills.entries()) {
      stop.throwIfAborted();
      await finder.find(file, bytes);
      await file.close();
      await this.#files.remove(pathIn(this.#folder, `hashes-${index}`));
    }
    await repeated.flush();
    this.#spills.length = 0;
    return repeated;
  }

  async close(): Promise<void> {
    await closeAll(this.#spills.splice(0));
    await this.#files.remove(this.#folder);
  }
}

interface Spill {
  readonly file: OpenFile;
  readonly records: Uint32Array;
  used: number;
  bytes: number;
}

async function flush(spill: Spill): Promise<void> {
  const { file, records, used, bytes } = spill;
  await file.write(bytesOf(records, used * wordsPerRecord), bytes);
  spill.bytes += used * wordsPerRecord * 4;
  spill.used = 0;
}

/** Without a copy. The words are those of this machine, which alone reads them. */
function bytesOf(words: Uint32Array, length: number): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, length * 4);
}

/** Finds the hashes that came before in their file, with the same memory for each. */
class RepeatFinder {
  readonly #repeated: RepeatedEntries;
  readonly #seen = new HashSet128();
  readonly #block = new Uint32Array(recordsRead * wordsPerRecord);
  readonly #hashes = new Uint32Array(recordsRead * wordsPerHash);

  constructor(repeated: RepeatedEntries) {
    this.#repeated = repeated;
  }

  async find(file: OpenFile, bytes: number): Promise<void> {
    this.#seen.clear();
    for (let position = 0; position < bytes; ) {
      const length = Math.min(this.#block.byteLength, bytes - position);
      const read = await file.read(position, length, bytesOf(this.#block, this.#block.length));
      if (read.length < length) throw new Error('a file of hashes is cut');
      position += length;
      await this.#addRecords(length / 4 / wordsPerRecord);
    }
  }

  async #addRecords(count: number): Promise<void> {
    const block = this.#block;
    const hashes = this.#hashes;
    for (let record = 0; record < count; record += 1) {
      for (let word = 0; word < wordsPerHash; word += 1)
        hashes[record * wordsPerHash + word] = block[record * wordsPerRecord + word] ?? 0;
    }
    const isNew = this.#seen.addAll(hashes.subarray(0, count * wordsPerHash));
    for (let record = 0; record < count; record += 1) {
      if (isNew[record] !== 0) continue;
      const at = record * wordsPerRecord + wordsPerHash;
      await this.#repeated.add((block[at] ?? 0) + (block[at + 1] ?? 0) * twoWords);
    }
  }
}

async function closeAll(spills: readonly Spill[]): Promise<void> {
  for (const { file } of spills) await file.close().catch(() => undefined);
}
