import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Batch, batchIds } from '../../src/pipeline/batch-ids.ts';
import type { IdEntry } from '../../src/pipeline/id-entry.ts';
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
        let first = 0;
        for (const batch of batches) {
          expect(batch.first).toBe(first);
          first += batch.entries.length;
          expect([batch.start, batch.end]).toEqual([0, batch.entries.length]);
          expect([...batch.ids]).toEqual(
            entriesIn(batch.entries)
              .filter(({ sighting }) => sighting === 'valid')
              .map(({ text }) => text),
          );
        }
        const valid = entries.filter(({ sighting }) => sighting === 'valid').length;
        const calls = idsOf(batches);
        expect(calls).toHaveLength(Math.ceil(valid / idsPerCall));
        for (const ids of calls.slice(0, -1)) expect(ids).toHaveLength(idsPerCall);
      }),
      { seed: 21, numRuns: 300 },
    );
  });

  it('ask for the same ids, and keep their answer until the same part, however the blocks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(letters, sizes, fc.integer({ min: 1, max: 20 }), async (text, blocks, rowsPerPart) => {
        const asked = async (cut: number[]) =>
          (await batchesOf(entriesOf(text), { idsPerCall: 4, rowsPerPart, blocks: cut }))
            .filter(({ ids }) => ids.length > 0)
            .map(({ ids, part }) => ({ ids: [...ids], part }));
        const calls = await asked(blocks);
        expect(calls).toEqual(await asked([1000]));
        for (const { ids, part } of calls) {
          expect(part).toBe(Math.floor(Number(ids.at(-1)?.slice(2)) / rowsPerPart));
        }
      }),
      { seed: 22, numRuns: 300 },
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
