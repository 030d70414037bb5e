import { hash128, hashBlock } from './hash-128.ts';

/** Power of two. Small shards keep each growth small, and few enough that an empty set is small too. */
const shardCount = 256;
const wordsPerSlot = 4;

/** A shard grows when it is this full, by this factor: on average three slots in ten are empty, 22.5 bytes an entry. */
const fullest = 0.82;
const growth = 1.32;
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
 * and grows a 256th at a time, never copying the whole. About 22 bytes an entry. The same texts give the same answers
 * in every run.
 */
export class HashSet128 {
  readonly #shards: Shard[] = [];
  readonly #encoder = new TextEncoder();
  #block = hashBlock(192);
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
    // UTF-8 takes at most three bytes for a character code.
    if (text.length * 3 > this.#block.bytes.length - 4) this.#block = hashBlock(text.length * 3);
    const { written } = this.#encoder.encodeInto(text, this.#block.bytes);
    hash128(this.#block, written, 0);
    const { hash } = this.#block;
    // A first word of zero marks an empty slot, so hashes that have it share those of the next value.
    if (hash[0] === 0) hash[0] = 1;
    const shard = this.#shards[(hash[3] ?? 0) & (shardCount - 1)];
    if (shard === undefined) return false;
    const at = find(shard, hash);
    if (at < 0) return false;
    put(shard, at, hash);
    shard.used += 1;
    this.#size += 1;
    if (shard.used > shard.limit) grow(shard);
    return true;
  }
}

function emptyShard(slots: number): Shard {
  return { words: new Uint32Array(slots * wordsPerSlot), slots, used: 0, limit: Math.floor(slots * fullest) };
}

/** The place in `words` where a probe for a first word begins: the word scaled to the slots, so that any number will do. */
function home(shard: Shard, first: number): number {
  return Math.floor((first * shard.slots) / 4_294_967_296) * wordsPerSlot;
}

/** The place of the free slot for a hash, or -1 when the hash is there. Some slot is always free. */
function find(shard: Shard, hash: Uint32Array): number {
  const { words } = shard;
  const first = hash[0] ?? 0;
  let at = home(shard, first);
  for (;;) {
    const there = words[at];
    if (there === 0) return at;
    if (there === first && words[at + 1] === hash[1] && words[at + 2] === hash[2] && words[at + 3] === hash[3])
      return -1;
    at += wordsPerSlot;
    if (at === words.length) at = 0;
  }
}

function put({ words }: Shard, at: number, hash: Uint32Array): void {
  words[at] = hash[0] ?? 0;
  words[at + 1] = hash[1] ?? 0;
  words[at + 2] = hash[2] ?? 0;
  words[at + 3] = hash[3] ?? 0;
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
    words[at] = first;
    words[at + 1] = old[from + 1] ?? 0;
    words[at + 2] = old[from + 2] ?? 0;
    words[at + 3] = old[from + 3] ?? 0;
  }
}
