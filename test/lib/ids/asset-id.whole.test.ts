import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CheckedId } from '../../../src/lib/ids/asset-id.ts';
import { hash128, hashBlock } from '../../../src/lib/hash/hash-set-128.ts';
import { anyCharacter } from '../../support/any-text.ts';
import { sampledRuns } from '../../model/support/sample.ts';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const fixed = { seed: 47, numRuns: 5000 };

/** What bs58 says: text that decodes to 32 bytes. */
function oracle(text: string): boolean {
  return bs58.decodeUnsafe(text)?.length === 32;
}

/** The hash of a text as it is taken without a check. */
function plainHash(text: string): string {
  const block = hashBlock(44);
  block.bytes.set(Buffer.from(text));
  hash128(block, text.length, 0);
  return [0, ...block.hash, 0].join(' ');
}

function hashOf(id: CheckedId): string {
  const words = new Uint32Array(6);
  id.hashTo(words, 1);
  expect([words[0], words[5]]).toEqual([0, 0]);
  return words.join(' ');
}

const key = fc
  .tuple(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.nat(32))
  .map(([bytes, zeros]) => bs58.encode(bytes.fill(0, 0, zeros)));
const randomKey = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bs58.encode(bytes));
const base58Text = fc
  .array(fc.constantFrom(...alphabet.split('')), { minLength: 30, maxLength: 46 })
  .map((characters) => characters.join(''));
const onesThenText = fc.tuple(fc.nat(33), base58Text).map(([ones, text]) => ('1'.repeat(ones) + text).slice(0, 46));
const text = fc.oneof(key, randomKey, base58Text, onesThenText);

describe('CheckedId', () => {
  it('finds what bs58 decodes to 32 bytes, as text and as bytes in the midst of others', () => {
    const id = new CheckedId();
    fc.assert(
      fc.property(text, fc.nat(5), (inner, before) => {
        const bytes = Buffer.from(`${'z'.repeat(before)}${inner}zz`);
        expect(id.read(bytes, before, before + inner.length)).toBe(oracle(inner));
        expect(id.readText(inner)).toBe(oracle(inner));
      }),
      fixed,
    );
  });

  it('refuses any other character at any place, also where its code folds into one that is base58', () => {
    const id = new CheckedId();
    fc.assert(
      fc.property(fc.oneof(key, randomKey), anyCharacter, fc.nat(43), (whole, odd, place) => {
        const at = place % whole.length;
        const other = whole.slice(0, at) + odd + whole.slice(at + 1);
        const bytes = Buffer.from(other, 'latin1');
        expect(id.readText(other)).toBe(oracle(other));
        expect(id.read(bytes, 0, bytes.length)).toBe(oracle(bytes.toString('latin1')));
      }),
      fixed,
    );
    const [first] = fc.sample(randomKey, { seed: 1, numRuns: 1 });
    expect(id.readText(String.fromCharCode((first ?? '').charCodeAt(0) + 256) + (first ?? '').slice(1))).toBe(false);
  });

  it('draws the line at the smallest and the largest value of 32 bytes, and of each first character', () => {
    const id = new CheckedId();
    const smallest = bs58.encode(new Uint8Array(32).fill(1, 0, 1));
    const largest = bs58.encode(new Uint8Array(32).fill(255));
    for (const bound of [smallest, largest]) {
      expect(id.readText(bound)).toBe(true);
      for (const first of alphabet) {
        for (const second of alphabet) {
          const near = first + second + bound.slice(2);
          expect(id.readText(near)).toBe(oracle(near));
        }
      }
    }
    const tooLarge = bs58.encode(new Uint8Array(33).fill(1, 0, 1));
    const tooSmall = bs58.encode(new Uint8Array(31).fill(255));
    expect([tooLarge, tooSmall].map((odd) => [odd.length, id.readText(odd)])).toEqual([
      [44, false],
      [43, false],
    ]);
  });

  it('gives equal hashes to equal ids and to no others, wherever they stand and whatever was read before', () => {
    const hashes = new Map<string, string>();
    const ids = new Map<string, string>();
    const id = new CheckedId();
    const runs = sampledRuns(40_000);
    const flipped = fc
      .tuple(fc.nat(31), fc.nat(255))
      .map(([at, value]) => bs58.encode(new Uint8Array(32).fill(7).fill(value, at, at + 1)));
    fc.assert(
      fc.property(fc.oneof(key, randomKey, flipped), fc.nat(5), (one, before) => {
        const bytes = Buffer.from(`${'z'.repeat(before)}${one}z`);
        expect(id.read(bytes, before, before + one.length)).toBe(true);
        const hash = hashOf(id);
        expect(hash).toBe(plainHash(one));
        expect(id.readText(one)).toBe(true);
        expect(hashOf(id)).toBe(hash);
        expect(hashes.get(one) ?? hash).toBe(hash);
        expect(ids.get(hash) ?? one).toBe(one);
        hashes.set(one, hash);
        ids.set(hash, one);
      }),
      { seed: 48, ...runs },
    );
    expect(ids.size).toBeGreaterThan(runs.numRuns / 2);
  });
});
