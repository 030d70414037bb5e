import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IdEntry } from '../../../src/core/ids/entries.ts';
import { EntryPacker } from '../../../src/core/ids/packed/pack-entries.ts';
import { unpackEntries } from '../../../src/core/ids/packed/unpack-entries.ts';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { blocksOf, entriesIn } from './entries.ts';

/** The shortest, the longest and usual ids. */
const ids = [
  '1'.repeat(32),
  'JEKNVnkbo3jma5nREBBJCDoXFVeKkD56V3xKrvRmWxFG',
  ...Array.from({ length: 30 }, (_, n) => generatedId(3, n)),
];

const entry: fc.Arbitrary<IdEntry> = fc.record({
  text: fc.constantFrom(...ids),
  source: fc.nat(2),
  line: fc.oneof(fc.nat(3), fc.nat(2 ** 45)),
  state: fc.constantFrom('valid' as const, 'duplicate' as const, 'invalid' as const),
  reason: fc.string({ unit: 'binary', maxLength: 9 }),
});

async function packed(entries: readonly IdEntry[], sizes: readonly number[]) {
  const pieces: Buffer[] = [];
  const packer = new EntryPacker(async (bytes) => {
    pieces.push(Buffer.from(bytes));
  });
  for await (const block of blocksOf(entries, sizes)) await packer.add(block);
  await packer.end();
  return { bytes: Buffer.concat(pieces), duplicates: Buffer.from(packer.duplicates()), counts: packer.counts };
}

async function unpacked({ bytes, duplicates }: { bytes: Buffer; duplicates: Buffer }): Promise<IdEntry[]> {
  const entries: IdEntry[] = [];
  const read = async (at: number, length: number) => bytes.subarray(at, at + length);
  for await (const block of unpackEntries(read, duplicates)) entries.push(...entriesIn(block));
  return entries;
}

describe('packed entries', () => {
  it('come back as they were', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), async (drawn, size) => {
        const entries = drawn.map((each) =>
          each.state === 'invalid' ? { ...each, text: `ä ${each.reason}` } : { ...each, reason: '' },
        );
        const made = await packed(entries, [size]);
        expect(await unpacked(made)).toEqual(entries);
        expect(made.counts.entries).toBe(entries.length);
        expect(made.counts.duplicate).toBe(entries.filter(({ state }) => state === 'duplicate').length);
      }),
      { seed: 11, numRuns: 300 },
    );
  });

  it('take 34 bytes an id at most, in frames, and are the same whatever duplicates there are', async () => {
    const entries = Array.from({ length: 20_000 }, (_, n) => ({
      ...{ text: generatedId(5, n), source: 0, line: n + 1, state: 'valid' as const, reason: '' },
    }));
    const made = await packed(entries, [1000]);
    expect(made.bytes.length / entries.length).toBeLessThan(34);
    expect(await unpacked(made)).toEqual(entries);
    const repeated = entries.map((each, n) => (n % 3 === 0 ? { ...each, state: 'duplicate' as const } : each));
    expect((await packed(repeated, [1000])).bytes).toEqual(made.bytes);
  });

  it('that are cut are noticed', async () => {
    const made = await packed([{ text: ids[0] ?? '', source: 0, line: 1, state: 'valid', reason: '' }], [1]);
    for (let bytes = 0; bytes < made.bytes.length; bytes += 1) {
      if (bytes === 8) continue; // The frames end there.
      await expect(unpacked({ ...made, bytes: made.bytes.subarray(0, bytes) })).rejects.toThrow();
    }
  });
});
