/** Bytes to hash, seen as words too, and the hash of them: one for many hashes, so that nothing is allocated. */
interface HashBlock {
  readonly bytes: Uint8Array;
  readonly words: Uint32Array;
  /** Four words. */
  readonly hash: Uint32Array;
}

export const wordsPerHash = 4;

/** @param capacity how many bytes it takes at most. */
export function hashBlock(capacity: number): HashBlock {
  const words = new Uint32Array(Math.ceil(capacity / 4));
  return { bytes: new Uint8Array(words.buffer), words, hash: new Uint32Array(wordsPerHash) };
}

/**
 * MurmurHash3_x86_128 of the first bytes of a block, left in `block.hash`; behind the last byte its word must hold zeros.
 * Every bit of it depends on every bit of the bytes; it passes SMHasher, whose verification value is part of the tests. Not
 * for secrets: who builds keys so that they collide can do so, and harms only the own export. On big-endian machines the
 * values differ, not their quality.
 */
export function hash128({ words, hash }: HashBlock, length: number, seed: number): void {
  let h1 = seed;
  let h2 = seed;
  let h3 = seed;
  let h4 = seed;
  const whole = (length >>> 4) << 2;
  for (let at = 0; at < whole; at += 4) {
    h1 ^= mix1(words[at] ?? 0);
    h1 = (Math.imul(rotate(h1, 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 ^= mix2(words[at + 1] ?? 0);
    h2 = (Math.imul(rotate(h2, 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 ^= mix3(words[at + 2] ?? 0);
    h3 = (Math.imul(rotate(h3, 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 ^= mix4(words[at + 3] ?? 0);
    h4 = (Math.imul(rotate(h4, 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  const left = length & 15;
  if (left > 12) h4 ^= mix4(words[whole + 3] ?? 0);
  if (left > 8) h3 ^= mix3(words[whole + 2] ?? 0);
  if (left > 4) h2 ^= mix2(words[whole + 1] ?? 0);
  if (left > 0) h1 ^= mix1(words[whole] ?? 0);
  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = finish(h2 + h1);
  h3 = finish(h3 + h1);
  h4 = finish(h4 + h1);
  h1 = finish(h1);
  h1 = (h1 + h2 + h3 + h4) | 0;
  hash[0] = h1;
  hash[1] = h2 + h1;
  hash[2] = h3 + h1;
  hash[3] = h4 + h1;
}

function mix1(value: number): number {
  return Math.imul(rotate(Math.imul(value, 0x239b961b), 15), 0xab0e9789);
}

function mix2(value: number): number {
  return Math.imul(rotate(Math.imul(value, 0xab0e9789), 16), 0x38b34ae5);
}

function mix3(value: number): number {
  return Math.imul(rotate(Math.imul(value, 0x38b34ae5), 17), 0xa1e38b93);
}

function mix4(value: number): number {
  return Math.imul(rotate(Math.imul(value, 0xa1e38b93), 18), 0x239b961b);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}

/** The last step of MurmurHash3: every bit of the value changes about half of the result's. The result may be negative. */
function finish(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Power of two. Small shards keep each growth small and within the cache, and few enough that an empty set is small too. */
const shardCount = 256;

/** The table of a shard grows when it is this full, by this factor: 5.3 bytes a hash on average. */
const fullest = 0.9;
const growth = 1.41;
const smallestSlots = 24;

/** Hashes of a chunk, once a shard has so many. Power of two. */
const chunkHashes = 1024;
const smallestChunk = 16;

/** Hashes whose slots are read ahead, before any of them is looked for. */
const hashesAhead = 256;

/**
 * The hashes of a shard lie one after another in chunks, which are never moved. Its table has a word a slot: the place of a hash,
 * from 1, in the lower bits, and above them the upper bits of its second word. So a probe reads a hash only where it is nearly
 * sure to be the same, and a new hash changes one word of memory that is not in the cache.
 */
interface Shard {
  table: Uint32Array;
  slots: number;
  /** The bits of a slot that are the place of a hash. */
  places: number;
  used: number;
  /** How many may be used before the table grows. */
  limit: number;
  readonly chunks: Uint32Array[];
  last: Uint32Array;
  /** Words of the last chunk that are used. */
  lastWords: number;
}

/**
 * A set of 128-bit hashes of four words each: it has no limit but memory, and grows a 256th at a time, never copying
 * the whole. About 22 bytes an entry. Two values of one hash are one to it: a chance of 2^-128 for each pair.
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

  /** Memory of hashes and tables. */
  get bytes(): number {
    return this.#shards.reduce((sum, { table, chunks, last }) => {
      const full = Math.max(0, chunks.length - 1) * chunkHashes * wordsPerHash * 4;
      return sum + table.byteLength + full + last.byteLength;
    }, 0);
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

  /** All hashes that it holds, four words each, in no particular order. */
  *hashes(): Generator<Uint32Array, void, void> {
    for (const { chunks, last, lastWords } of this.#shards) {
      for (const chunk of chunks) yield chunk === last ? chunk.subarray(0, lastWords) : chunk;
    }
  }

  /** Forgets all hashes, and keeps its tables for others. */
  clear(): void {
    for (const shard of this.#shards) {
      shard.table.fill(0);
      shard.used = 0;
      shard.chunks.length = Math.min(1, shard.chunks.length);
      shard.last = shard.chunks[0] ?? shard.last;
      shard.lastWords = 0;
    }
    this.#size = 0;
  }

  #add(hashes: Uint32Array, from: number): 0 | 1 {
    const shard = this.#shardOf(hashes, from);
    const slot = freeSlot(shard, hashes, from);
    if (slot < 0) return 0;
    shard.used += 1;
    shard.table[slot] = slotWord(hashes[from + 1] ?? 0, shard.used, shard.places);
    keep(shard, hashes, from);
    this.#size += 1;
    if (shard.used > shard.limit) growTable(shard);
    return 1;
  }

  /** Reads where the probes will begin: the memory comes for many hashes at once, instead of one after the other. */
  #touch(hashes: Uint32Array, start: number, end: number): void {
    let touched = 0;
    for (let from = start; from < end; from += wordsPerHash) {
      const { table, slots } = this.#shardOf(hashes, from);
      touched ^= table[home(slots, hashes[from] ?? 0)] ?? 0;
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
  const none = new Uint32Array(0);
  const shard = { table: none, slots: 0, places: 0, limit: 0, used: 0, chunks: [], last: none, lastWords: 0 };
  emptyTable(shard, slots);
  return shard;
}

function emptyTable(shard: Shard, slots: number): void {
  shard.table = new Uint32Array(slots);
  shard.slots = slots;
  shard.limit = Math.floor(slots * fullest);
  shard.places = 2 ** (32 - Math.clz32(shard.limit + 1)) - 1;
}

/** Never 0, which marks an empty slot: places begin with 1. */
function slotWord(second: number, place: number, places: number): number {
  return (second & ~places) | place;
}

/** The slot where a probe for a first word begins: the word scaled to the slots, so that any number of them will do. */
function home(slots: number, first: number): number {
  return (first * (slots / 4_294_967_296)) | 0;
}

/** The free slot for the hash at `from`, or -1 when the hash is there. Some slot is always free. */
function freeSlot(shard: Shard, hashes: Uint32Array, from: number): number {
  const { table, slots, places } = shard;
  const second = hashes[from + 1] ?? 0;
  let slot = home(slots, hashes[from] ?? 0);
  for (;;) {
    const there = table[slot] ?? 0;
    if (there === 0) return slot;
    if (((there ^ second) & ~places) === 0 && isAt(shard, (there & places) - 1, hashes, from)) return -1;
    slot += 1;
    if (slot === slots) slot = 0;
  }
}

/** Whether the hash of an index, from 0, is the one at `from`. */
function isAt({ chunks }: Shard, index: number, hashes: Uint32Array, from: number): boolean {
  const chunk = chunks[Math.floor(index / chunkHashes)];
  const at = (index % chunkHashes) * wordsPerHash;
  if (chunk === undefined) return false;
  for (let word = 0; word < wordsPerHash; word += 1) if (chunk[at + word] !== hashes[from + word]) return false;
  return true;
}

function keep(shard: Shard, hashes: Uint32Array, from: number): void {
  if (shard.lastWords === shard.last.length) addRoom(shard);
  const { last, lastWords } = shard;
  last[lastWords] = hashes[from] ?? 0;
  last[lastWords + 1] = hashes[from + 1] ?? 0;
  last[lastWords + 2] = hashes[from + 2] ?? 0;
  last[lastWords + 3] = hashes[from + 3] ?? 0;
  shard.lastWords = lastWords + wordsPerHash;
}

/** A small set has one small chunk a shard, which doubles until it is a whole one. */
function addRoom(shard: Shard): void {
  const { chunks, last } = shard;
  const isWhole = last.length === chunkHashes * wordsPerHash;
  const words = isWhole ? last.length : Math.max(smallestChunk * wordsPerHash, 2 * last.length);
  const chunk = new Uint32Array(words);
  if (isWhole) shard.lastWords = 0;
  else {
    chunk.set(last);
    chunks.pop();
  }
  chunks.push(chunk);
  shard.last = chunk;
}

/** The hashes are read in their order, and the table of a shard fits into the cache: few accesses miss it. */
function growTable(shard: Shard): void {
  emptyTable(shard, Math.ceil(shard.slots * growth));
  const { table, slots, places, chunks, used } = shard;
  let place = 1;
  for (const chunk of chunks) {
    for (let at = 0; at < chunk.length && place <= used; at += wordsPerHash) {
      let slot = home(slots, chunk[at] ?? 0);
      while (table[slot] !== 0) {
        slot += 1;
        if (slot === slots) slot = 0;
      }
      table[slot] = slotWord(chunk[at + 1] ?? 0, place, places);
      place += 1;
    }
  }
}
