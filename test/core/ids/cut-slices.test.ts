import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { batchIds, cutSlices } from '../../../src/core/ids/batch-ids.ts';
import type { Entries } from '../../../src/core/ids/entries.ts';
import { blocksOf, entriesIn, entriesOf } from './entries.ts';

const letters = fc.string({ unit: fc.constantFrom('v', 'v', 'v', 'i', 'd'), maxLength: 120 });

async function partsOf(
  blocks: AsyncIterable<Entries>,
  shape: { idsPerCall: number; rowsPerPart: number; firstPart?: number },
) {
  const calls: unknown[] = [];
  for await (const { part, endsPart, ids, entries } of batchIds(blocks, shape)) {
    calls.push({ part, endsPart, ids: [...ids], entries: entriesIn(entries) });
    entries.release();
  }
  return calls;
}

describe('slices', () => {
  it('make the same calls and parts as all entries at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 50 }),
        async (text, rowsPerPart, entriesPerSlice) => {
          const shape = { idsPerCall: 3, rowsPerPart };
          const whole = await partsOf(blocksOf(entriesOf(text), [7]), shape);
          const cut: unknown[] = [];
          let slices = 0;
          for await (const { slice, firstPart, entries } of cutSlices(blocksOf(entriesOf(text), [5]), {
            ...shape,
            entriesPerSlice,
          })) {
            expect(slice).toBe(slices);
            slices += 1;
            cut.push(...(await partsOf(entries(), { ...shape, firstPart })));
          }
          expect(cut).toEqual(whole);
        },
      ),
      { seed: 23, numRuns: 300 },
    );
  });

  it('end with the first part at whose end they have enough entries', async () => {
    const shape = { idsPerCall: 2, rowsPerPart: 4, entriesPerSlice: 7 };
    const firstParts: number[] = [];
    for await (const { firstPart } of cutSlices(blocksOf(entriesOf('v'.repeat(18)), [7]), shape))
      firstParts.push(firstPart);
    // None of them was read: the rest of each is skipped.
    expect(firstParts).toEqual([0, 2, 4]);
  });

  it('are one of no entries', async () => {
    const slices = [];
    for await (const { slice, firstPart } of cutSlices(blocksOf([], [7]), {
      idsPerCall: 2,
      rowsPerPart: 4,
      entriesPerSlice: 7,
    }))
      slices.push({ slice, firstPart });
    expect(slices).toEqual([{ slice: 0, firstPart: 0 }]);
  });
});
