/** Bytes to hash, seen as words too, and the hash of them: one for many hashes, so that nothing is allocated. */
export interface HashBlock {
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
