import { hash128, hashBlock } from './hash-128.ts';

/** Power of two. Small shards keep each growth small, and few enough that an empty set is small too. */
const shardCount = 256;
const wordsPerSlot = 4;

/** A shard grows when it is this full, by this factor: on average a slot in four is empty, 21.5 bytes an entry. */
const fullest = 0.84;
const growth = 1.28;
const smallestSlots = 24;

interface Shard {
  words: Uint32Array<ArrayBuffer>;
  slots: number;
  used: number;
  /** How many may be used before it grows. */
  limit: number;
}

/**
 * A set of texts, known by 128-bit hashes: exact but for one chance in 2^128 for each pair. It has no limit but memory,
 * and grows a 256th at a time, never copying the whole. About 22 bytes an entry. The same texts give the same answers
 * in every run.
 */
export class HashSet128 {
  readonly #shards: Shard[] = [];
  readonly #encoder = new TextEncoder();
  #block = hashBlock(192);
  #hashes = new Uint32Array(wordsPerSlot);
  #touched = 0;
  #size = 0;

  constructor() {
    // Shards fill at the same pace. Different first sizes make them grow one after another, not all at once.
    for (let index = 0; index < shardCount; index += 1) {
      this.#shards.push(emptyShard(Math.ceil(smallestSlots * growth ** (index / shardCount))));
    }
  }

  /** How many different texts it holds. */
  get size(): number {
    return this.#size;
  }

  /** Memory of the table. */
  get bytes(): number {
    return this.#shards.reduce((sum, shard) => sum + shard.words.byteLength, 0);
  }

  /** Adds a text. True when it is new. */
  add(text: string): boolean {
    return this.addAll([text])[0] === 1;
  }

  /** Adds texts in their order; for each 1 when it is new, 0 when it is known. A fifth faster than one by one. */
  addAll(texts: readonly string[]): Uint8Array {
    const isNew = new Uint8Array(texts.length);
    const hashes = this.#hashAll(texts);
    this.#touch(hashes, texts.length);
    for (let index = 0; index < texts.length; index += 1) {
      const from = index * wordsPerSlot;
      const shard = this.#shardOf(hashes, from);
      const at = find(shard, hashes, from);
      if (at < 0) continue;
      isNew[index] = 1;
      copySlot(hashes, from, { words: shard.words, at });
      shard.used += 1;
      this.#size += 1;
      if (shard.used > shard.limit) grow(shard);
    }
    return isNew;
  }

  #hashAll(texts: readonly string[]): Uint32Array {
    const words = texts.length * wordsPerSlot;
    if (this.#hashes.length < words) this.#hashes = new Uint32Array(words);
    for (let index = 0; index < texts.length; index += 1) {
      const text = texts[index] ?? '';
      // UTF-8 takes at most three bytes for a character code.
      if (text.length * 3 > this.#block.bytes.length - 4) this.#block = hashBlock(text.length * 3);
      const { written } = this.#encoder.encodeInto(text, this.#block.bytes);
      hash128(this.#block, written, 0);
      // A first word of zero marks an empty slot, so hashes that have it share those of the next value.
      if (this.#block.hash[0] === 0) this.#block.hash[0] = 1;
      copySlot(this.#block.hash, 0, { words: this.#hashes, at: index * wordsPerSlot });
    }
    return this.#hashes;
  }

  /** Reads where the probes will begin: the memory comes for many hashes at once, instead of one after the other. */
  #touch(hashes: Uint32Array, count: number): void {
    let touched = 0;
    for (let from = 0; from < count * wordsPerSlot; from += wordsPerSlot) {
      const shard = this.#shardOf(hashes, from);
      touched ^= shard.words[home(shard, hashes[from] ?? 0)] ?? 0;
    }
    // Kept, so that no compiler finds the reading useless.
    this.#touched = touched;
  }

  #shardOf(hashes: Uint32Array, from: number): Shard {
    const shard = this.#shards[(hashes[from + 3] ?? 0) & (shardCount - 1)];
    if (shard === undefined) throw new Error('a shard is missing');
    return shard;
  }
}

function emptyShard(slots: number): Shard {
  return { words: new Uint32Array(slots * wordsPerSlot), slots, used: 0, limit: Math.floor(slots * fullest) };
}

/** The place in `words` where a probe for a first word begins: the word scaled to the slots, so that any number will do. */
function home(shard: Shard, first: number): number {
  return Math.floor((first * shard.slots) / 4_294_967_296) * wordsPerSlot;
}

/** The place of the free slot for the hash at `from`, or -1 when the hash is there. Some slot is always free. */
function find(shard: Shard, hashes: Uint32Array, from: number): number {
  const { words } = shard;
  const first = hashes[from] ?? 0;
  const second = hashes[from + 1];
  const third = hashes[from + 2];
  const fourth = hashes[from + 3];
  let at = home(shard, first);
  for (;;) {
    const there = words[at];
    if (there === 0) return at;
    if (there === first && words[at + 1] === second && words[at + 2] === third && words[at + 3] === fourth) return -1;
    at += wordsPerSlot;
    if (at === words.length) at = 0;
  }
}

function copySlot(source: Uint32Array, from: number, { words, at }: { words: Uint32Array; at: number }): void {
  words[at] = source[from] ?? 0;
  words[at + 1] = source[from + 1] ?? 0;
  words[at + 2] = source[from + 2] ?? 0;
  words[at + 3] = source[from + 3] ?? 0;
}

/** Homes follow the order of the first words, so the old slots fill the new ones from front to back: no random access. */
function grow(shard: Shard): void {
  const old = shard.words;
  shard.slots = Math.ceil(shard.slots * growth);
  shard.limit = Math.floor(shard.slots * fullest);
  const words = new Uint32Array(shard.slots * wordsPerSlot);
  shard.words = words;
  for (let from = 0; from < old.length; from += wordsPerSlot) {
    const first = old[from] ?? 0;
    if (first === 0) continue;
    let at = home(shard, first);
    while (words[at] !== 0) {
      at += wordsPerSlot;
      if (at === words.length) at = 0;
    }
    copySlot(old, from, { words, at });
  }
  // Old tables wait for a full collection, and 10 million entries leave tens of megabytes of them. Moved to a new buffer
  // that nobody keeps, the memory goes with the next small collection.
  structuredClone(old.buffer, { transfer: [old.buffer] });
}
