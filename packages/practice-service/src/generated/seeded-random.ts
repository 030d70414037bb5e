/** Numbers that look random and are the same on every machine and Node version: sfc32 (public domain), integers only. */
export class SeededRandom {
  private a: number;
  private b: number;
  private c: number;
  private counter: number;

  /** Four 32-bit words; different seeds give different sequences. */
  constructor(seed: readonly [number, number, number, number]) {
    [this.a, this.b, this.c, this.counter] = seed;
    // The author's advice: the first dozen outputs of close seeds are alike.
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** The next integer from 0 to 2^32-1. */
  next(): number {
    const { a, b, c } = this;
    const result = (((a + b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = b ^ (b >>> 9);
    this.b = (c + (c << 3)) | 0;
    this.c = (((c << 21) | (c >>> 11)) + result) | 0;
    return result >>> 0;
  }

  /** An integer from 0 to `limit`-1. */
  below(limit: number): number {
    return Math.floor((this.next() / 0x1_0000_0000) * limit);
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.next() < percent * 42_949_672.96;
  }

  /** @throws {RangeError} when the list is empty. */
  pick<T>(list: readonly T[]): T {
    const index = this.below(list.length);
    if (index >= list.length) throw new RangeError('Cannot pick from an empty list.');
    return list[index] as T;
  }
}

/** A seed from a text: four FNV-1a lanes with different starts, each mixed at the end so that near texts lie far apart. */
export function seedOf(text: string): [number, number, number, number] {
  let [a, b, c, d] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    a = Math.imul(a ^ code, 0x01000193);
    b = Math.imul(b ^ code, 0x5bd1e995);
    c = Math.imul(c ^ code, 0x1b873593);
    d = Math.imul(d ^ code, 0x2545f491);
  }
  return [mix(a), mix(b), mix(c), mix(d)];
}

/** A generator whose numbers depend on the text alone. */
export function randomOf(text: string): SeededRandom {
  return new SeededRandom(seedOf(text));
}

/** The finishing step of MurmurHash3: every bit of the input reaches every bit of the result. */
function mix(word: number): number {
  let mixed = word ^ (word >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) | 0;
}
