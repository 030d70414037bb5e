import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IdList } from '../../src/assets/id-list.ts';
import type { BatchLookups } from '../../src/client/look-up-batch.ts';
import { type Lookup, Lookups } from '../../src/client/lookups.ts';
import { batchIds } from '../../src/pipeline/batch-ids.ts';
import type { FetchedBatch } from '../../src/pipeline/fetch-batches.ts';
import type { IdEntry } from '../../src/pipeline/id-entry.ts';
import { partSlices } from '../../src/pipeline/part-slices.ts';
import { neededBatches } from '../../src/pipeline/needed-batches.ts';
import { blocksOf, entriesOf } from './entries.ts';

const letters = fc.string({ unit: fc.constantFrom('v', 'v', 'i', 'd'), maxLength: 100 });

interface Flow {
  readonly entries: readonly IdEntry[];
  readonly idsPerCall: number;
  readonly rowsPerPart: number;
  readonly isNeeded: (part: number) => boolean;
}

interface Fate {
  readonly part: number;
  readonly entry: IdEntry;
  readonly lookup: Lookup | undefined;
}

/** What the slices of the needed parts say of each entry, and the ids that are asked for. */
async function flow({ entries, idsPerCall, rowsPerPart, isNeeded }: Flow) {
  const asked: string[] = [];
  async function* fetched(): AsyncGenerator<FetchedBatch, void, void> {
    const batches = batchIds(blocksOf(entries, [13]), { idsPerCall, rowsPerPart });
    for await (const batch of neededBatches(batches, { rowsPerPart, isNeeded })) {
      asked.push(...batch.ids);
      const found = batch.ids.length === 0 ? undefined : lookups(batch.ids);
      const release = (): void => {
        batch.entries.release();
      };
      yield { batch, found, release };
    }
  }
  const fates: Fate[] = [];
  let foreignRecords = 0;
  for await (const { part, entries, start, end, lookups, firstLookup, extras } of partSlices(fetched(), {
    rowsPerPart,
    isNeeded,
  })) {
    foreignRecords += extras.foreignRecords;
    let place = firstLookup;
    for (let index = start; index < end; index += 1) {
      const entry = entries.at(index);
      fates.push({ part, entry, lookup: entry.sighting === 'valid' ? lookups?.at(place++) : undefined });
    }
  }
  return { fates, foreignRecords, asked };
}

const everyPart = (): boolean => true;

/** Each id is missing for a reason that names it; each answer has one record that nobody asked for. */
function lookups(ids: IdList): BatchLookups {
  const lookups = new Lookups(ids.length);
  for (const [place, id] of [...ids].entries()) {
    lookups.putRefused(place, { kind: 'missing', reason: `none for ${id}` });
  }
  return {
    lookups,
    counts: { foreign: 1, repeated: 0, idless: 0, otherResponseId: 0 },
    release: () => undefined,
  };
}

describe('slices', () => {
  it('give every entry to the part of its place, with the look-up of its own id', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 25 }),
        async (text, idsPerCall, rowsPerPart) => {
          const entries = entriesOf(text);
          const { fates, foreignRecords } = await flow({ entries, idsPerCall, rowsPerPart, isNeeded: everyPart });
          expect(fates).toEqual(
            entries.map((entry, index) => ({
              part: Math.floor(index / rowsPerPart),
              entry,
              lookup: entry.sighting === 'valid' ? { kind: 'missing', reason: `none for ${entry.text}` } : undefined,
            })),
          );
          const calls = Math.ceil(entries.filter(({ sighting }) => sighting === 'valid').length / idsPerCall);
          expect(foreignRecords).toBe(calls);
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
        expect(some.fates).toEqual(whole.fates.filter(({ part }) => isNeeded(part)));
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
