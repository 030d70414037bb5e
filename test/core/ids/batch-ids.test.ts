import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Batch, batchIds } from '../../../src/core/ids/batch-ids.ts';
import type { IdEntry } from '../../../src/core/ids/entries.ts';
import { blocksOf, collected, entriesIn, entriesOf } from './entries.ts';

const letters = fc.string({ unit: fc.constantFrom('v', 'v', 'v', 'i', 'd'), maxLength: 120 });
const sizes = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 5 });

function batchesOf(entries: readonly IdEntry[], shape: { idsPerCall: number; rowsPerPart: number; blocks?: number[] }) {
  return collected(batchIds(blocksOf(entries, shape.blocks ?? [7]), shape));
}

const idsOf = (batches: readonly Batch[]): string[][] =>
  batches.map(({ ids }) => [...ids]).filter((ids) => ids.length > 0);

describe('batches', () => {
  it('are full calls but for the last, hold every entry once and in order, however the blocks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(letters, sizes, fc.integer({ min: 1, max: 9 }), async (text, blocks, idsPerCall) => {
        const entries = entriesOf(text);
        const batches = await batchesOf(entries, { idsPerCall, rowsPerPart: 10, blocks });
        expect(batches.flatMap((batch) => entriesIn(batch.entries))).toEqual(entries);
        for (const batch of batches) {
          expect([...batch.ids]).toEqual(
            entriesIn(batch.entries)
              .filter(({ state }) => state === 'valid')
              .map(({ text }) => text),
          );
        }
        const valid = entries.filter(({ state }) => state === 'valid').length;
        const calls = idsOf(batches);
        expect(calls).toHaveLength(Math.ceil(valid / idsPerCall));
        for (const ids of calls.slice(0, -1)) expect(ids).toHaveLength(idsPerCall);
      }),
      { seed: 21, numRuns: 300 },
    );
  });

  it('and parts depend on the entries alone, however the blocks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(letters, sizes, fc.integer({ min: 1, max: 20 }), async (text, blocks, rowsPerPart) => {
        const cut = async (into: number[]) =>
          (await batchesOf(entriesOf(text), { idsPerCall: 4, rowsPerPart, blocks: into })).map((batch) => ({
            part: batch.part,
            endsPart: batch.endsPart,
            ids: [...batch.ids],
            entries: entriesIn(batch.entries),
          }));
        expect(await cut(blocks)).toEqual(await cut([1000]));
      }),
      { seed: 22, numRuns: 300 },
    );
  });

  it('number their parts from the first one', async () => {
    const batches = await collected(
      batchIds(blocksOf(entriesOf('v'.repeat(10)), [7]), { idsPerCall: 2, rowsPerPart: 4, firstPart: 5 }),
    );
    expect(batches.map(({ part }) => part)).toEqual([5, 5, 6, 6, 7]);
  });

  it('make a part that ends with the first batch at whose end it has enough entries', async () => {
    await fc.assert(
      fc.asyncProperty(letters, fc.integer({ min: 1, max: 20 }), async (text, rowsPerPart) => {
        const batches = await batchesOf(entriesOf(text), { idsPerCall: 4, rowsPerPart });
        let part = 0;
        let entries = 0;
        for (const batch of batches) {
          expect(batch.part).toBe(part);
          entries += batch.entries.length;
          expect(batch.endsPart).toBe(entries >= rowsPerPart);
          if (!batch.endsPart) continue;
          part += 1;
          entries = 0;
        }
      }),
      { seed: 23, numRuns: 300 },
    );
  });

  it('are closed before they are full when nothing is to be asked for a long time', async () => {
    const batches = await batchesOf(entriesOf(`vv${'d'.repeat(450_000)}vv`), {
      idsPerCall: 100,
      rowsPerPart: 1000,
      blocks: [4096],
    });
    expect(idsOf(batches)).toEqual([
      ['id0', 'id1'],
      ['id450002', 'id450003'],
    ]);
    expect(Math.max(...batches.map(({ entries }) => entries.length))).toBeLessThanOrEqual(200_002);
  });
});
