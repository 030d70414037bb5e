import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchLookups } from '../../src/client/look-up-batch.ts';
import { batchIds } from '../../src/pipeline/batch-ids.ts';
import type { FetchedBatch } from '../../src/pipeline/fetch-batches.ts';
import type { IdEntry } from '../../src/pipeline/id-entry.ts';
import { type PartSlice, partSlices } from '../../src/pipeline/part-slices.ts';
import { neededBatches } from '../../src/pipeline/needed-batches.ts';
import { blocksOf, collected, entriesOf } from './entries.ts';

const letters = fc.string({ unit: fc.constantFrom('v', 'v', 'i', 'd'), maxLength: 100 });

interface Flow {
  readonly entries: readonly IdEntry[];
  readonly idsPerCall: number;
  readonly rowsPerPart: number;
  readonly isNeeded: (part: number) => boolean;
}

/** The slices of these entries that lie in the needed parts, and the ids that are asked for. */
async function flow({ entries, idsPerCall, rowsPerPart, isNeeded }: Flow) {
  const asked: string[] = [];
  async function* fetched(): AsyncGenerator<FetchedBatch, void, void> {
    const batches = batchIds(blocksOf(entries, [13]), { idsPerCall, rowsPerPart });
    for await (const batch of neededBatches(batches, { rowsPerPart, isNeeded })) {
      asked.push(...batch.ids);
      yield { batch, found: batch.ids.length === 0 ? undefined : lookups(batch.ids) };
    }
  }
  const slices = await collected(partSlices(fetched(), { rowsPerPart, isNeeded }));
  return { slices, asked };
}

const everyPart = (): boolean => true;

/** Each id is missing for a reason that names it; each answer has one record that nobody asked for. */
function lookups(ids: readonly string[]): BatchLookups {
  return {
    lookups: ids.map((id) => ({ kind: 'missing', reason: `none for ${id}` })),
    counts: { foreign: 1, repeated: 0, idless: 0, otherResponseId: 0 },
    release: () => undefined,
  };
}

const fatesOf = (slices: readonly PartSlice[]) =>
  slices.flatMap(({ part, entries, lookups }) => {
    const left = [...lookups];
    const fates = entries.map((entry) => {
      return { part, entry, lookup: entry.sighting === 'valid' ? left.shift() : undefined };
    });
    expect(left).toEqual([]);
    return fates;
  });

describe('slices', () => {
  it('give every entry to the part of its place, with the look-up of its own id', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 25 }),
        async (text, idsPerCall, rowsPerPart) => {
          const entries = entriesOf(text);
          const { slices } = await flow({ entries, idsPerCall, rowsPerPart, isNeeded: everyPart });
          expect(fatesOf(slices)).toEqual(
            entries.map((entry, index) => ({
              part: Math.floor(index / rowsPerPart),
              entry,
              lookup: entry.sighting === 'valid' ? { kind: 'missing', reason: `none for ${entry.text}` } : undefined,
            })),
          );
          const calls = Math.ceil(entries.filter(({ sighting }) => sighting === 'valid').length / idsPerCall);
          expect(slices.reduce((sum, { extras }) => sum + extras.foreignRecords, 0)).toBe(calls);
        },
      ),
      { seed: 31, numRuns: 300 },
    );
  });

  it('of some parts are those of a whole run, and ask for no more than the calls that touch ids of these parts', async () => {
    const shape = fc.record({
      text: letters,
      idsPerCall: fc.integer({ min: 1, max: 9 }),
      rowsPerPart: fc.integer({ min: 1, max: 25 }),
      parts: fc.oneof(fc.nat(8), fc.array(fc.boolean(), { maxLength: 20 })),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ text, idsPerCall, rowsPerPart, parts }) => {
        const entries = entriesOf(text);
        // A run that goes on needs all parts behind those it finds; a repair needs any.
        const isNeeded = (part: number): boolean => (typeof parts === 'number' ? part >= parts : parts[part] === true);
        const whole = await flow({ entries, idsPerCall, rowsPerPart, isNeeded: everyPart });
        const some = await flow({ entries, idsPerCall, rowsPerPart, isNeeded });
        expect(fatesOf(some.slices)).toEqual(fatesOf(whole.slices).filter(({ part }) => isNeeded(part)));
        const ids = entries.flatMap(({ text, sighting }, index) =>
          sighting === 'valid' ? [{ text, needed: isNeeded(Math.floor(index / rowsPerPart)) }] : [],
        );
        const calls = ids.filter((_, index) => {
          const start = index - (index % idsPerCall);
          return ids.slice(start, start + idsPerCall).some(({ needed }) => needed);
        });
        expect(some.asked.length).toBeLessThanOrEqual(calls.length);
        expect(calls.map(({ text }) => text)).toEqual(expect.arrayContaining(some.asked));
        expect(some.asked).toEqual(expect.arrayContaining(ids.filter(({ needed }) => needed).map(({ text }) => text)));
      }),
      { seed: 32, numRuns: 300 },
    );
  });
});
