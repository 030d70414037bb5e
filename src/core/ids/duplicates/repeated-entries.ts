import { BitSet } from '../../../lib/bit-set.ts';
import { pathIn } from '../../../places/export/export-folder.ts';
import type { FileStore } from '../../../places/files/file-store.ts';

/** Entries of a range are a bit each in memory: 2 MB. */
const entriesPerRange = 2 ** 24;

/** Numbers that are written at once. */
const numbersAtOnce = 16_384;

/** Numbers of entries on disk, by range: what is in memory does not grow with their number. */
export class RepeatedEntries {
  readonly #files: FileStore;
  readonly #folder: string;
  readonly #bytesOf = new Map<number, number>();
  readonly #buffer = new Uint32Array(numbersAtOnce);
  #used = 0;
  #range = 0;
  #marked: { readonly range: number; readonly bits: BitSet } | undefined;

  constructor(files: FileStore, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  /** Adds one. Those that come one after another should be near each other. */
  async add(entry: number): Promise<void> {
    const range = Math.floor(entry / entriesPerRange);
    if (range !== this.#range || this.#used === numbersAtOnce) await this.flush();
    this.#range = range;
    this.#buffer[this.#used] = entry % entriesPerRange;
    this.#used += 1;
  }

  /** Writes what was added; before any is looked for. */
  async flush(): Promise<void> {
    if (this.#used === 0) return;
    const bytes = new Uint8Array(this.#buffer.buffer, 0, this.#used * 4);
    const position = this.#bytesOf.get(this.#range) ?? 0;
    const file = await this.#files.open(this.#path(this.#range), 'update');
    try {
      await file.write(bytes, position);
    } finally {
      await file.close();
    }
    this.#bytesOf.set(this.#range, position + bytes.length);
    this.#used = 0;
  }

  /** Makes entries known to `has`, from `first` up to `end`. */
  async load(first: number, end: number): Promise<(entry: number) => boolean> {
    const loaded = [await this.#bits(first), await this.#bits(end - 1)];
    return (entry) => {
      const range = Math.floor(entry / entriesPerRange);
      const bits = loaded.find((each) => each.range === range)?.bits;
      return bits?.has(entry % entriesPerRange) === true;
    };
  }

  async #bits(entry: number): Promise<{ readonly range: number; readonly bits: BitSet }> {
    const range = Math.floor(entry / entriesPerRange);
    if (this.#marked?.range === range) return this.#marked;
    const bits = new BitSet(entriesPerRange);
    const length = this.#bytesOf.get(range) ?? 0;
    if (length > 0) {
      const file = await this.#files.open(this.#path(range), 'read');
      try {
        for (let position = 0; position < length; position += this.#buffer.byteLength) {
          const read = await file.read(position, Math.min(this.#buffer.byteLength, length - position));
          const numbers = new DataView(read.buffer, read.byteOffset, read.byteLength);
          for (let at = 0; at < read.byteLength; at += 4) {
            // Written in the order of this machine's bytes, which alone reads them.
            bits.add(numbers.getUint32(at, isLittleEndian));
          }
        }
      } finally {
        await file.close();
      }
    }
    this.#marked = { range, bits };
    return this.#marked;
  }

  #path(range: number): string {
    return pathIn(this.#folder, `repeated-${range}`);
  }
}

const isLittleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1;
