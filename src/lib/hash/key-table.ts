import { wordsPerHash } from './hash-set-128.ts';

/** A slot in ten is empty. */
const fullest = 0.9;

/** A slot is the hash of a key, a value, and a row. */
const wordsPerSlot = wordsPerHash + 2;
const valueAt = wordsPerHash;
const rowAt = wordsPerHash + 1;

/**
 * A table of 128-bit hashes with two numbers each, made for a known number of keys: 24 bytes a slot. They lie side by side, so
 * that adding or finding a key waits for memory once.
 */
export class KeyTable {
  /** How many slots there are; a key keeps its slot. */
  readonly slots: number;
  readonly #words: Uint32Array;
  #size = 0;
  #touched = 0;

  /** @param keys the most keys that will be added */
  constructor(keys: number) {
    this.slots = Math.ceil((keys + 1) / fullest);
    this.#words = new Uint32Array(this.slots * wordsPerSlot);
  }

  get size(): number {
    return this.#size;
  }

  /** Memory of the table. */
  get bytes(): number {
    return this.#words.byteLength;
  }

  /** What the owner keeps of the key in a slot; 0 until it is set, and in a slot without a key. */
  value(slot: number): number {
    return this.#words[slot * wordsPerSlot + valueAt] ?? 0;
  }

  setValue(slot: number, value: number): void {
    this.#words[slot * wordsPerSlot + valueAt] = value;
  }

  row(slot: number): number {
    return this.#words[slot * wordsPerSlot + rowAt] ?? 0;
  }

  setRow(slot: number, row: number): void {
    this.#words[slot * wordsPerSlot + rowAt] = row;
  }

  /** Adds the key whose hash stands at `at`, and gives its slot; that of the same key where it is known. */
  add(hashes: Uint32Array, at: number): number {
    const found = this.#probe(hashes, at);
    if (found >= 0) return found;
    const slot = ~found;
    if (this.#size + 1 >= this.slots) throw new RangeError('more keys than the table was made for');
    const to = slot * wordsPerSlot;
    this.#words[to] = firstWord(hashes, at);
    for (let word = 1; word < wordsPerHash; word += 1) this.#words[to + word] = hashes[at + word] ?? 0;
    this.#size += 1;
    return slot;
  }

  /** Reads where the probes for the hashes will begin: the memory comes for many at once, instead of one after the other. */
  readAhead(hashes: Uint32Array): void {
    let touched = 0;
    for (let at = 0; at < hashes.length; at += wordsPerHash) {
      touched ^= this.#words[this.#home(firstWord(hashes, at)) * wordsPerSlot] ?? 0;
    }
    // Kept, so that no compiler finds the reading useless.
    this.#touched = touched;
  }

  /** The slot of the key whose hash stands at `at`; -1 when it is not there. */
  find(hashes: Uint32Array, at: number): number {
    const found = this.#probe(hashes, at);
    return found < 0 ? -1 : found;
  }

  /** One word of the hash in a slot that is used. */
  word(slot: number, word: number): number {
    return this.#words[slot * wordsPerSlot + word] ?? 0;
  }

  /** Where the probe for a first word begins: the word scaled to the slots. */
  #home(first: number): number {
    return (first * (this.slots / 4_294_967_296)) | 0;
  }

  /** The slot of a key, or `~slot` of where it would go. */
  #probe(hashes: Uint32Array, at: number): number {
    const own = this.#words;
    const first = firstWord(hashes, at);
    let slot = this.#home(first);
    for (;;) {
      const from = slot * wordsPerSlot;
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
