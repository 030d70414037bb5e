/** Four words of 32 bits. */
export type Hash128 = Uint32Array;

/**
 * MurmurHash3_x86_128 of a text whose characters are bytes (codes below 256), written to `out`. Every output bit depends
 * on every input bit, it passes SMHasher, and its known verification value is part of the tests. Not for secrets: who
 * builds keys to collide can do so, and harms no one but the own export.
 */
export function hash128(text: string, seed: number, out: Hash128): void {
  const length = text.length;
  let h1 = seed;
  let h2 = seed;
  let h3 = seed;
  let h4 = seed;
  const blocks = length - (length % 16);
  for (let at = 0; at < blocks; at += 16) {
    h1 ^= mix1(word(text, at));
    h1 = (Math.imul(rotate(h1, 19) + h2, 5) + 0x561ccd1b) | 0;
    h2 ^= mix2(word(text, at + 4));
    h2 = (Math.imul(rotate(h2, 17) + h3, 5) + 0x0bcaa747) | 0;
    h3 ^= mix3(word(text, at + 8));
    h3 = (Math.imul(rotate(h3, 15) + h4, 5) + 0x96cd1c35) | 0;
    h4 ^= mix4(word(text, at + 12));
    h4 = (Math.imul(rotate(h4, 13) + h1, 5) + 0x32ac3b17) | 0;
  }
  if (length > blocks + 12) h4 ^= mix4(partWord(text, blocks + 12));
  if (length > blocks + 8) h3 ^= mix3(partWord(text, blocks + 8));
  if (length > blocks + 4) h2 ^= mix2(partWord(text, blocks + 4));
  if (length > blocks) h1 ^= mix1(partWord(text, blocks));
  h1 ^= length;
  h2 ^= length;
  h3 ^= length;
  h4 ^= length;
  h1 = (h1 + h2 + h3 + h4) | 0;
  h2 = (h2 + h1) | 0;
  h3 = (h3 + h1) | 0;
  h4 = (h4 + h1) | 0;
  h1 = finish(h1);
  h2 = finish(h2);
  h3 = finish(h3);
  h4 = finish(h4);
  h1 = (h1 + h2 + h3 + h4) | 0;
  out[0] = h1;
  out[1] = h2 + h1;
  out[2] = h3 + h1;
  out[3] = h4 + h1;
}

function word(text: string, at: number): number {
  return (
    text.charCodeAt(at) |
    (text.charCodeAt(at + 1) << 8) |
    (text.charCodeAt(at + 2) << 16) |
    (text.charCodeAt(at + 3) << 24)
  );
}

/** The same for one to four characters at the end of the text; those beyond it count as zero. */
function partWord(text: string, at: number): number {
  if (at + 4 <= text.length) return word(text, at);
  let value = 0;
  for (let index = text.length - 1; index >= at; index -= 1) value = (value << 8) | text.charCodeAt(index);
  return value;
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

function finish(value: number): number {
  let hash = value ^ (value >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
