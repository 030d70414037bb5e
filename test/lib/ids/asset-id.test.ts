import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base58Length, isAssetId, isAssetIdAt, isBase58 } from '../../../src/lib/ids/asset-id.ts';
import { anyCharacter } from '../../support/any-text.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const fixed = { seed: 20, numRuns: 5000 };

/** What bs58 says: text that decodes to 32 bytes. */
function oracle(text: string): boolean {
  const bytes = bs58.decodeUnsafe(text);
  return bytes?.length === 32;
}

const key = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(32))
  .map(([bytes, zeros]) => bytes.fill(0, 0, zeros));
const base58Text = fc
  .array(fc.constantFrom(...alphabet.split('')), { minLength: 28, maxLength: 48 })
  .map((characters) => characters.join(''));
const onesThenText = fc.tuple(fc.nat(33), base58Text).map(([ones, text]) => ('1'.repeat(ones) + text).slice(0, 46));

describe('isAssetId', () => {
  it('accepts the text of every 32 bytes, whatever their leading zeros', () => {
    fc.assert(
      fc.property(key, (bytes) => isAssetId(bs58.encode(bytes))),
      fixed,
    );
  });

  it('agrees with bs58 on base58 text of any length', () => {
    fc.assert(
      fc.property(fc.oneof(base58Text, onesThenText), (text) => isAssetId(text) === oracle(text)),
      fixed,
    );
  });

  it('refuses keys of every other length', () => {
    const other = fc.uint8Array({ maxLength: 70 }).filter((bytes) => bytes.length !== 32);
    fc.assert(
      fc.property(other, (bytes) => !isAssetId(bs58.encode(bytes))),
      fixed,
    );
  });

  it('draws the line exactly at the smallest and the largest value behind any number of leading ones', () => {
    for (let zeros = 0; zeros <= 32; zeros += 1) {
      const smallest = new Uint8Array(32);
      if (zeros < 32) smallest[zeros] = 1;
      const largest = new Uint8Array(32).fill(255, zeros);
      for (const bytes of [smallest, largest]) expect(isAssetId(bs58.encode(bytes))).toBe(true);
      const tooLong = new Uint8Array(33);
      tooLong[zeros] = 1;
      expect(isAssetId(bs58.encode(tooLong))).toBe(false);
      expect(isAssetId(bs58.encode(largest.subarray(1)))).toBe(false);
    }
  });

  it('refuses any character that is not base58, also where its code folds into one that is', () => {
    const id = bs58.encode(new Uint8Array(32).fill(7));
    fc.assert(
      fc.property(anyCharacter, fc.nat(id.length - 1), (odd, at) => {
        const text = id.slice(0, at) + odd + id.slice(at + 1);
        return isAssetId(text) === oracle(text);
      }),
      fixed,
    );
    const folded = String.fromCharCode(id.charCodeAt(0) + 256) + id.slice(1);
    expect(isAssetId(folded)).toBe(false);
  });

  it('takes the all-ones id, the empty text and a prefix of an id for what they are', () => {
    expect(isAssetId('1'.repeat(32))).toBe(true);
    expect(isAssetId('1'.repeat(31))).toBe(false);
    expect(isAssetId('1'.repeat(33))).toBe(false);
    expect(isAssetId('')).toBe(false);
  });

  it('reads the same from bytes in the midst of others', () => {
    const text = fc.oneof(
      base58Text,
      onesThenText,
      key.map((bytes) => bs58.encode(bytes)),
    );
    fc.assert(
      fc.property(text, (inner) => {
        const bytes = Buffer.from(`zz${inner}zz`);
        return isAssetIdAt(bytes, 2, bytes.length - 2) === oracle(inner);
      }),
      fixed,
    );
  });
});

describe('base58Length', () => {
  it('counts the bytes that bs58 decodes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => base58Length(bs58.encode(bytes)) === bytes.length),
      { seed: 22, numRuns: 1000 },
    );
  });

  it('throws for a character that is not base58', () => {
    expect(() => base58Length('abc0')).toThrow('character 4');
    expect(isBase58('0')).toBe(false);
    expect(isBase58('z')).toBe(true);
    expect(isBase58('')).toBe(false);
  });
});
