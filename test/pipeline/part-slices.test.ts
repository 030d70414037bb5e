import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BatchLookups } from '../../src/client/look-up-batch.ts';
import { batchIds } from '../../src/pipeline/batch-ids.ts';
import type { FetchedBatch } from '../../src/pipeline/fetch-batches.ts';
import type { IdEntry } from '../../src/pipeline/id-entry.ts';
import { type PartSlice, partSlices } from '../../src/pipeline/part-slices.ts';
import { skipCommitted } from '../../src/pipeline/skip-committed.ts';
import { blocksOf, collected, entriesOf } from './entries.ts';

const letters = fc.string({ unit: fc.constantFrom('v', 'v', 'i', 'd'), maxLength: 100 });

interface Flow {
  readonly entries: readonly IdEntry[];
  readonly idsPerCall: number;
  readonly rowsPerPart: number;
  readonly committedParts: number;
}

/** Batches of these entries, skipped as a run would that finds so many parts committed, and the ids it asks for. */
async function flow({ entries, idsPerCall, rowsPerPart, committedParts }: Flow) {
  const asked: string[] = [];
  async function* fetched(): AsyncGenerator<FetchedBatch, void, void> {
    const batches = batchIds(blocksOf(entries, [13]), { idsPerCall, rowsPerPart });
    const committed = { parts: committedParts, entries: Math.min(entries.length, committedParts * rowsPerPart) };
    for await (const batch of skipCommitted(batches, committed)) {
      asked.push(...batch.ids);
      yield { batch, found: batch.ids.length === 0 ? undefined : lookups(batch.ids) };
    }
  }
  const slices = await collected(partSlices(fetched(), rowsPerPart, committedParts));
  return { slices, asked };
}

/** Each id is missing for a reason that names it; each answer has one record that nobody asked for. */
function lookups(ids: readonly string[]): BatchLookups {
  return {
    lookups: ids.map((id) => ({ kind: 'missing', reason: `none for ${id}` })),
    counts: { foreign: 1, repeated: 0, idless: 0, otherResponseId: 0 },
  };
}

const fatesOf = (slices: readonly PartSlice[]) =>
  slices.flatMap(({ part, fates }) => fates.map((fate) => ({ part, ...fate })));

describe('slices', () => {
  it('give every entry to the part of its place, with the look-up of its own id', async () => {
    await fc.assert(
      fc.asyncProperty(
        letters,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 25 }),
        async (text, idsPerCall, rowsPerPart) => {
          const entries = entriesOf(text);
          const { slices } = await flow({ entries, idsPerCall, rowsPerPart, committedParts: 0 });
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

  it('of a run that goes on are those of a whole one behind the committed parts, and ask for no id that lies in them alone', async () => {
    const shape = fc.record({
      text: letters,
      idsPerCall: fc.integer({ min: 1, max: 9 }),
      rowsPerPart: fc.integer({ min: 1, max: 25 }),
      parts: fc.nat(8),
    });
    await fc.assert(
      fc.asyncProperty(shape, async ({ text, idsPerCall, rowsPerPart, parts }) => {
        const entries = entriesOf(text);
        const committedParts = Math.min(parts, Math.ceil(entries.length / rowsPerPart));
        const whole = await flow({ entries, idsPerCall, rowsPerPart, committedParts: 0 });
        const rest = await flow({ entries, idsPerCall, rowsPerPart, committedParts });
        expect(fatesOf(rest.slices)).toEqual(fatesOf(whole.slices).filter(({ part }) => part >= committedParts));
        const behind = entries.slice(committedParts * rowsPerPart).filter(({ sighting }) => sighting === 'valid');
        if (behind.length === 0) expect(rest.asked).toEqual([]);
        else expect(rest.asked.slice(-behind.length)).toEqual(behind.map(({ text }) => text));
        // At most one batch straddles the bound.
        expect(rest.asked.length - behind.length).toBeLessThan(idsPerCall);
      }),
      { seed: 32, numRuns: 300 },
    );
  });
});
