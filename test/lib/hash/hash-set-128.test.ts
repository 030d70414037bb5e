import { describe, expect, it } from 'vitest';
import { hash128, hashBlock } from '../../../src/lib/hash/hash-set-128.ts';

/** The 16 bytes of a hash as a string of characters below 256, words in little-endian order. */
function hashBytes(text: string, seed: number): string {
  const block = hashBlock(text.length);
  block.bytes.set(Buffer.from(text, 'latin1'));
  hash128(block, text.length, seed);
  return Buffer.from(block.hash.buffer).toString('latin1');
}

describe('hash128', () => {
  it('has the verification value that SMHasher publishes for MurmurHash3_x86_128', () => {
    let hashes = '';
    let key = '';
    for (let length = 0; length < 256; length += 1) {
      hashes += hashBytes(key, 256 - length);
      key += String.fromCharCode(length);
    }
    expect(Buffer.from(hashBytes(hashes, 0), 'latin1').readUInt32LE(0)).toBe(0xb3ece62a);
  });

  it('differs in about half of its bits when one bit of the text differs', () => {
    const text = 'GEciJX32EwG7DeHrXgosvpDAgjiuPo3uSEUAfJPLoSBD';
    const before = Buffer.from(hashBytes(text, 0), 'latin1');
    for (let at = 0; at < text.length; at += 1) {
      const other = text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1);
      const after = Buffer.from(hashBytes(other, 0), 'latin1');
      let bits = 0;
      for (const [index, byte] of before.entries()) bits += countBits(byte ^ (after[index] ?? 0));
      expect(bits).toBeGreaterThan(36);
      expect(bits).toBeLessThan(92);
    }
  });
});

function countBits(byte: number): number {
  let bits = 0;
  for (let rest = byte; rest > 0; rest >>= 1) bits += rest & 1;
  return bits;
}
