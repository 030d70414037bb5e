import { wordsPerHash } from '../lib/hash-128.ts';

/** A slot in ten is empty. */
const fullest = 0.9;

/** A table of 128-bit hashes with two numbers each, made for a known number of keys: 24 bytes a slot. */
export class KeyTable {
  /** How many slots there are; a key keeps its slot. */
  readonly slots: number;
  readonly #hashes: Uint32Array;
  /** By slot: what the owner keeps of a key. */
  readonly values: Uint32Array;
  readonly rows: Uint32Array;
  #size = 0;

  /** @param keys the most keys that will be added */
  constructor(keys: number) {
    this.slots = Math.ceil((keys + 1) / fullest);
    this.#hashes = new Uint32Array(this.slots * wordsPerHash);
    this.values = new Uint32Array(this.slots);
    this.rows = new Uint32Array(this.slots);
  }

  get size(): number {
    return this.#size;
  }

  /** Memory of the table. */
  get bytes(): number {
    return this.#hashes.byteLength + this.values.byteLength + this.rows.byteLength;
  }

  /** Adds the key whose hash stands at `at`, and gives its slot; that of the same key where it is known. */
  add(hashes: Uint32Array, at: number): number {
    const found = this.#probe(hashes, at);
    if (found >= 0) return found;
    const slot = ~found;
    if (this.#size + 1 >= this.slots) throw new RangeError('more keys than the table was made for');
    const to = slot * wordsPerHash;
    this.#hashes[to] = firstWord(hashes, at);
    for (let word = 1; word < wordsPerHash; word += 1) this.#hashes[to + word] = hashes[at + word] ?? 0;
    this.#size += 1;
    return slot;
  }

  /** The slot of the key whose hash stands at `at`; -1 when it is not there. */
  find(hashes: Uint32Array, at: number): number {
    const found = this.#probe(hashes, at);
    return found < 0 ? -1 : found;
  }

  isUsed(slot: number): boolean {
    return this.#hashes[slot * wordsPerHash] !== 0;
  }

  /** One word of the hash in a slot that is used. */
  word(slot: number, word: number): number {
    return this.#hashes[slot * wordsPerHash + word] ?? 0;
  }

  /** The slot of a key, or `~slot` of where it would go. */
  #probe(hashes: Uint32Array, at: number): number {
    const own = this.#hashes;
    const first = firstWord(hashes, at);
    let slot = (first * (this.slots / 4_294_967_296)) | 0;
    for (;;) {
      const from = slot * wordsPerHash;
      const there = own[from];
      if (there === 0) return ~slot;
      if (
        there === first &&
        own[from + 1] === hashes[at + 1] &&
        own[from + 2] === hashes[at + 2] &&
        own[from + 3] === hashes[at + 3]
      )
        return slot;
      slot += 1;
      if (slot === this.slots) slot = 0;
    }
  }
}

/** A first word of zero marks an empty slot, so hashes that have it share those of the next value. */
function firstWord(hashes: Uint32Array, at: number): number {
  return hashes[at] === 0 ? 1 : (hashes[at] ?? 1);
}
