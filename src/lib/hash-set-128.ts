import { hash128 } from './hash-128.ts';

/** Power of two. Small shards keep each growth small, and few enough that an empty set is small too. */
const shardCount = 256;
const wordsPerSlot = 4;

/** A shard grows when it is this full, by this factor: on average a slot in four is empty, 21 bytes an entry. */
const fullest = 0.86;
const growth = 1.28;
const smallestSlots = 24;

interface Shard {
  words: Uint32Array;
  slots: number;
  used: number;
  /** How many may be used before it grows. */
  limit: number;
}

/**
 * A set of texts, known by 128-bit hashes: exact but for one chance in 2^128 for each pair. It has no limit but memory,
 * and grows a 256th at a time, never copying the whole. About 21 bytes an entry. The same texts give the same answers
 * in every run.
 */
export class HashSet128 {
  readonly #shards: Shard[] = [];
  readonly #hash = new Uint32Array(wordsPerSlot);
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

  /** Adds a text of characters below U+0100. True when it is new. */
  add(text: string): boolean {
    const hash = this.#hash;
    hash128(text, 0, hash);
    // A first word of zero marks an empty slot, so hashes that have it take the next: 127.99 bits are left.
    if ((hash[0] ?? 0) === 0) hash[0] = 1;
    const shard = this.#shards[(hash[3] ?? 0) & (shardCount - 1)];
    if (shard === undefined || !insert(shard, hash, 0)) return false;
    shard.used += 1;
    this.#size += 1;
    if (shard.used > shard.limit) grow(shard);
    return true;
  }
}

function emptyShard(slots: number): Shard {
  return { words: new Uint32Array(slots * wordsPerSlot), slots, used: 0, limit: Math.floor(slots * fullest) };
}

/** Puts the hash at `from` of some words into a shard; false when it is there. A free slot must exist. */
function insert(shard: Shard, source: Uint32Array, from: number): boolean {
  const { words } = shard;
  const first = source[from] ?? 0;
  const second = source[from + 1];
  const third = source[from + 2];
  const fourth = source[from + 3];
  // The first word, scaled to the number of slots: any number of slots will do, and no division is needed.
  let at = Math.floor((first * shard.slots) / 4_294_967_296) * wordsPerSlot;
  for (;;) {
    const there = words[at];
    if (there === 0) break;
    if (there === first && words[at + 1] === second && words[at + 2] === third && words[at + 3] === fourth)
      return false;
    at += wordsPerSlot;
    if (at === words.length) at = 0;
  }
  words[at] = first;
  words[at + 1] = second ?? 0;
  words[at + 2] = third ?? 0;
  words[at + 3] = fourth ?? 0;
  return true;
}

function grow(shard: Shard): void {
  const old = shard.words;
  shard.slots = Math.ceil(shard.slots * growth);
  shard.words = new Uint32Array(shard.slots * wordsPerSlot);
  shard.limit = Math.floor(shard.slots * fullest);
  for (let from = 0; from < old.length; from += wordsPerSlot) {
    if (old[from] !== 0) insert(shard, old, from);
  }
}
