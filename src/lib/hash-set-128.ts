import { wordsPerHash } from './hash-128.ts';

/** Power of two. Small shards keep each growth small, and few enough that an empty set is small too. */
const shardCount = 256;

/**
 * A shard grows when it is this full, by this factor: on average a slot in five is empty, 20.3 bytes an entry. Filling
 * more and growing in larger steps takes the same memory as the other way round, and copies less.
 */
const fullest = 0.95;
const growth = 1.41;
const smallestSlots = 24;

/** Hashes whose places are read ahead, before any of them is looked for. */
const hashesAhead = 256;

/** The first words of all slots come first, then three more words a slot: a probe reads first words alone, 16 a cache line. */
interface Shard {
  words: Uint32Array;
  slots: number;
  used: number;
  /** How many may be used before it grows. */
  limit: number;
}

/**
 * A set of 128-bit hashes of four words each: it has no limit but memory, and grows a 256th at a time, never copying
 * the whole. About 20 bytes an entry. Two values of one hash are one to it: a chance of 2^-128 for each pair.
 */
export class HashSet128 {
  readonly #shards: Shard[] = [];
  #touched = 0;
  #size = 0;

  constructor() {
    // Shards fill at the same pace. Different first sizes make them grow one after another, not all at once.
    for (let index = 0; index < shardCount; index += 1) {
      this.#shards.push(emptyShard(Math.ceil(smallestSlots * growth ** (index / shardCount))));
    }
  }

  /** How many different hashes it holds. */
  get size(): number {
    return this.#size;
  }

  /** Memory of the table. */
  get bytes(): number {
    return this.#shards.reduce((sum, { words }) => sum + words.byteLength, 0);
  }

  /** Adds hashes, four words each, in their order; for each 1 when it is new, 0 when it is known. */
  addAll(hashes: Uint32Array): Uint8Array {
    const isNew = new Uint8Array(hashes.length / wordsPerHash);
    for (let start = 0; start < isNew.length; start += hashesAhead) {
      const end = Math.min(start + hashesAhead, isNew.length);
      this.#touch(hashes, start * wordsPerHash, end * wordsPerHash);
      for (let index = start; index < end; index += 1) isNew[index] = this.#add(hashes, index * wordsPerHash);
    }
    return isNew;
  }

  /** All hashes that it holds, four words each, in no particular order. A first word of zero comes as 1. */
  *hashes(): Generator<Uint32Array, void, void> {
    for (const { words, slots, used } of this.#shards) {
      const found = new Uint32Array(used * wordsPerHash);
      let to = 0;
      for (let slot = 0; slot < slots; slot += 1) {
        const first = words[slot] ?? 0;
        if (first === 0) continue;
        const rest = slots + slot * 3;
        found[to] = first;
        found.set(words.subarray(rest, rest + 3), to + 1);
        to += wordsPerHash;
      }
      yield found;
    }
  }

  #add(hashes: Uint32Array, from: number): 0 | 1 {
    const shard = this.#shardOf(hashes, from);
    const slot = freeSlot(shard, hashes, from);
    if (slot < 0) return 0;
    putHash(shard, slot, { hashes, from });
    shard.used += 1;
    this.#size += 1;
    if (shard.used > shard.limit) grow(shard);
    return 1;
  }

  /** Reads where the probes will begin: the memory comes for many hashes at once, instead of one after the other. */
  #touch(hashes: Uint32Array, start: number, end: number): void {
    let touched = 0;
    for (let from = start; from < end; from += wordsPerHash) {
      const shard = this.#shardOf(hashes, from);
      touched ^= shard.words[home(shard, firstWord(hashes, from))] ?? 0;
    }
    // Kept, so that no compiler finds the reading useless.
    this.#touched = touched;
  }

  #shardOf(hashes: Uint32Array, from: number): Shard {
    const shard = this.#shards[shardIndex(hashes, from)];
    if (shard === undefined) throw new Error('a shard is missing');
    return shard;
  }
}

function shardIndex(hashes: Uint32Array, from: number): number {
  return (hashes[from + 3] ?? 0) & (shardCount - 1);
}

function emptyShard(slots: number): Shard {
  return { words: new Uint32Array(slots * wordsPerHash), slots, used: 0, limit: Math.floor(slots * fullest) };
}

/** A first word of zero marks an empty slot, so hashes that have it share those of the next value. */
function firstWord(hashes: Uint32Array, from: number): number {
  const first = hashes[from] ?? 0;
  return first === 0 ? 1 : first;
}

/** The slot where a probe for a first word begins: the word scaled to the slots, so that any number of them will do. */
function home({ slots }: Shard, first: number): number {
  return (first * (slots / 4_294_967_296)) | 0;
}

/** The free slot for the hash at `from`, or -1 when the hash is there. Some slot is always free. */
function freeSlot(shard: Shard, hashes: Uint32Array, from: number): number {
  const { words, slots } = shard;
  const first = firstWord(hashes, from);
  let slot = home(shard, first);
  for (;;) {
    const there = words[slot];
    if (there === 0) return slot;
    if (there === first && hasRest(words, slots + slot * 3, { hashes, from })) return -1;
    slot += 1;
    if (slot === slots) slot = 0;
  }
}

interface HashAt {
  readonly hashes: Uint32Array;
  readonly from: number;
}

function hasRest(words: Uint32Array, at: number, { hashes, from }: HashAt): boolean {
  return words[at] === hashes[from + 1] && words[at + 1] === hashes[from + 2] && words[at + 2] === hashes[from + 3];
}

function putHash({ words, slots }: Shard, slot: number, { hashes, from }: HashAt): void {
  words[slot] = firstWord(hashes, from);
  const at = slots + slot * 3;
  words[at] = hashes[from + 1] ?? 0;
  words[at + 1] = hashes[from + 2] ?? 0;
  words[at + 2] = hashes[from + 3] ?? 0;
}

/** Homes follow the order of the first words, so the old slots fill the new ones from front to back: no random access. */
function grow(shard: Shard): void {
  const { words: old, slots: oldSlots } = shard;
  const slots = Math.ceil(oldSlots * growth);
  const words = new Uint32Array(slots * wordsPerHash);
  shard.slots = slots;
  shard.limit = Math.floor(slots * fullest);
  shard.words = words;
  for (let from = 0; from < oldSlots; from += 1) {
    const first = old[from] ?? 0;
    if (first === 0) continue;
    let slot = home(shard, first);
    while (words[slot] !== 0) {
      slot += 1;
      if (slot === slots) slot = 0;
    }
    words[slot] = first;
    const at = slots + slot * 3;
    const rest = oldSlots + from * 3;
    words[at] = old[rest] ?? 0;
    words[at + 1] = old[rest + 1] ?? 0;
    words[at + 2] = old[rest + 2] ?? 0;
  }
}
