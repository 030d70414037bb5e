import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hash128, hashBlock, HashSet128 } from '../../../src/lib/hash/hash-set-128.ts';

/** Words that meet: in the first slots, in the last ones, and in one shard. */
const word = fc.constantFrom(0, 1, 2, 256, 0x8000_0000, 0xffff_ff00, 0xffff_ffff);
const anyWord = fc.integer({ min: 0, max: 0xffff_ffff });
const crowded = fc.tuple(word, word, word, word);
const oneShard = fc.tuple(anyWord, anyWord, anyWord, fc.constant(512));

const block = hashBlock(4);

/** Hashes of consecutive numbers: well mixed, and all different. */
function hashesFrom(first: number, count: number): Uint32Array {
  const hashes = new Uint32Array(count * 4);
  for (let index = 0; index < count; index += 1) {
    block.words[0] = first + index;
    hash128(block, 4, 0);
    hashes.set(block.hash, index * 4);
  }
  return hashes;
}

describe('HashSet128', () => {
  // Promise, Nothing misread: Duplicates are exact: no two ids are confused, in 25 bytes an id
  it('tells new from known as a Set does, in one block or in several', () => {
    const blocks = fc.array(fc.array(fc.oneof(crowded, oneShard), { maxLength: 600 }), { maxLength: 4 });
    fc.assert(
      fc.property(blocks, (all) => {
        const set = new HashSet128();
        const known = new Set<string>();
        for (const block of all) {
          const expected = block.map((words) => {
            const isNew = !known.has(words.join(' '));
            known.add(words.join(' '));
            return isNew ? 1 : 0;
          });
          expect(Array.from(set.addAll(Uint32Array.from(block.flat())))).toEqual(expected);
        }
        expect(set.size).toBe(known.size);
      }),
      { seed: 36, numRuns: 300 },
    );
  });

  it('knows a million hashes, in at most 25 bytes each, and never grows by more than a fiftieth', () => {
    const set = new HashSet128();
    let bytes = 0;
    let largestStep = 0;
    for (let first = 0; first < 1_000_000; first += 100) {
      expect(set.addAll(hashesFrom(first, 100)).every((isNew) => isNew === 1)).toBe(true);
      if (first < 100_000) continue;
      if (bytes > 0) largestStep = Math.max(largestStep, (set.bytes - bytes) / bytes);
      bytes = set.bytes;
    }
    expect(set.size).toBe(1_000_000);
    expect(set.bytes / set.size).toBeLessThan(25);
    expect(largestStep).toBeLessThan(0.02);
    expect(set.addAll(hashesFrom(0, 1_000_000)).every((isNew) => isNew === 0)).toBe(true);
    expect(set.size).toBe(1_000_000);
  });

  it('knows nothing when it was cleared, and takes no more memory for the same number of hashes', () => {
    const set = new HashSet128();
    set.addAll(hashesFrom(0, 500_000));
    const { bytes } = set;
    set.clear();
    expect(set.size).toBe(0);
    expect(set.addAll(hashesFrom(499_000, 500_000)).every((isNew) => isNew === 1)).toBe(true);
    expect(set.addAll(hashesFrom(499_000, 500_000)).every((isNew) => isNew === 0)).toBe(true);
    expect(set.bytes).toBeLessThan(bytes * 1.05);
  });

  it('is small when it is empty', () => {
    expect(new HashSet128().bytes).toBeLessThan(200_000);
  });
});
