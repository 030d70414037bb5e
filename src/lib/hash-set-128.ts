import { separateMemory } from './aligned-memory.ts';
import { wordsPerHash } from './hash-128.ts';
import { letGo } from './let-go.ts';

/** Power of two. Small shards keep each growth small, and few enough that an empty set is small too. */
const shardCount = 256;

/**
 * A shard grows when it is this full, by this factor: on average a slot in five is empty, 20.3 bytes an entry. Filling
 * more and growing in larger steps takes the same memory as the other way round, and copies less.
 */
const fullest = 0.95;
const growth = 1.41;
const smallestSlots = 24;

/** Shards do not fill evenly: each gets so much more than its share of what is expected, and few have to grow again. */
const margin = 1.04;

/** What is expected is a guess: it is grown to where that is at least the first times as large, in steps of at most the second. */
const leastStep = 2;
const largestStep = 16;

/** Words of memory taken at once for many shards. */
const mostWords = 1 << 28;

/** Hashes whose places are read ahead, before any of them is looked for. */
const hashesAhead = 256;

/** The first words of all slots come first, then three more words a slot: a probe reads first words alone, 16 a cache line. */
interface Shard {
  words: Uint32Array<ArrayBuffer>;
  slots: number;
  used: number;
  /** How many may be used before it grows. */
  limit: number;
}

/**
 * A set of 128-bit hashes of four words each: it has no limit but memory, and grows a 256th at a time, never copying
 * the whole. About 20 bytes an entry; 17.5 where it was told how many to expect. Two values of one hash are one to it: a
 * chance of 2^-128 for each pair.
 */
export class HashSet128 {
  readonly #shards: Shard[] = [];
  #touched = 0;
  #size = 0;
  #expected = 0;
  #room = new SharedRoom(0);

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

  /** Tells how many different hashes it will hold in all, as far as that is known. It may be told again, and be wrong. */
  expect(size: number): void {
    this.#expected = size;
  }

  /** Memory of the table, with what is reserved for shards that will grow. */
  get bytes(): number {
    const held = new Set([...this.#shards.map(({ words }) => words), ...this.#room.pieces].map(({ buffer }) => buffer));
    let bytes = 0;
    for (const { byteLength } of held) bytes += byteLength;
    return bytes;
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

  #add(hashes: Uint32Array, from: number): 0 | 1 {
    const shard = this.#shardOf(hashes, from);
    const slot = freeSlot(shard, hashes, from);
    if (slot < 0) return 0;
    putHash(shard, slot, { hashes, from });
    shard.used += 1;
    this.#size += 1;
    if (shard.used > shard.limit) grow(shard, this.#wordsFor(shard, shardIndex(hashes, from)));
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

  /** Memory for a shard that is full: in a room for all that is expected, or on the way there; else a little more of its own. */
  #wordsFor({ slots }: Shard, index: number): Uint32Array<ArrayBuffer> {
    // A room that became too small is forgotten: its memory goes when the last shard has left.
    if (this.#room.slots <= slots) this.#room = new SharedRoom(this.#roomySlots(slots));
    return this.#room.take(index) ?? new Uint32Array(Math.ceil(slots * growth) * wordsPerHash);
  }

  /** Slots that a shard of so many should have next; 0 where nothing speaks for many more. */
  #roomySlots(slots: number): number {
    const step = (this.#expected * margin) / (shardCount * fullest * slots);
    if (!(step >= leastStep)) return 0;
    const steps = Math.ceil(Math.log(step) / Math.log(largestStep));
    return Math.ceil(slots * (Number.isFinite(steps) ? step ** (1 / steps) : largestStep));
  }

  #shardOf(hashes: Uint32Array, from: number): Shard {
    const shard = this.#shards[shardIndex(hashes, from)];
    if (shard === undefined) throw new Error('a shard is missing');
    return shard;
  }
}

/**
 * Room of equal size for every shard. It is cut from large pieces, which the system gives and takes back whole: hundreds of
 * tables of their own would leave holes behind that nothing else fits into.
 */
class SharedRoom {
  /** Of one shard; 0 where there is no room. */
  readonly slots: number;
  readonly pieces: Uint32Array<ArrayBuffer>[] = [];
  /** Asked again for each shard, the system would refuse each time, after V8 has collected all garbage. */
  #isRefused = false;

  constructor(slots: number) {
    this.slots = slots;
  }

  /** The place of a shard; undefined where there is none, or no memory for so many that are only expected. */
  take(index: number): Uint32Array<ArrayBuffer> | undefined {
    if (this.slots === 0 || this.#isRefused) return undefined;
    const words = this.slots * wordsPerHash;
    const shards = Math.min(shardCount, Math.ceil(mostWords / words));
    const start = (index % shards) * words;
    try {
      const piece = (this.pieces[Math.floor(index / shards)] ??= new Uint32Array(
        separateMemory(shards * words * Uint32Array.BYTES_PER_ELEMENT),
      ));
      return piece.subarray(start, start + words);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      this.#isRefused = true;
      return undefined;
    }
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
function grow(shard: Shard, words: Uint32Array<ArrayBuffer>): void {
  const { words: old, slots: oldSlots } = shard;
  const slots = words.length / wordsPerHash;
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
  // 10 million entries would leave tens of megabytes of old tables.
  if (old.byteLength === old.buffer.byteLength) letGo(old.buffer);
}
