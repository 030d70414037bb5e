import fc from 'fast-check';
import { expect, it } from 'vitest';
import { batchIds } from '../../../src/pipeline/batch-ids.ts';
import type { IdEntry } from '../../../src/pipeline/id-entry.ts';
import { cutStretches } from '../../../src/pipeline/threads/cut-stretches.ts';
import { unpackBatch } from '../../../src/pipeline/threads/packed-batch.ts';
import { blocksOf, collected, entriesIn, entriesOf } from '../entries.ts';

const shape = fc.record({
  text: fc.string({ unit: fc.constantFrom('v', 'v', 'v', 'i', 'd'), minLength: 1, maxLength: 400, size: 'max' }),
  idsPerCall: fc.integer({ min: 1, max: 6 }),
  rowsPerPart: fc.integer({ min: 1, max: 30 }),
});

it('cuts batches into stretches of whole parts: every entry is in one, and every call in one or, when it is shared, in two', async () => {
  let shared = 0;
  await fc.assert(
    fc.asyncProperty(shape, async ({ text, idsPerCall, rowsPerPart }) => {
      const entries = entriesOf(text);
      const batches = batchIds(blocksOf(entries, [17]), { idsPerCall, rowsPerPart });
      const stretches = await collected(cutStretches(batches, { rowsPerPart, isNeeded: () => true }));
      const seen: IdEntry[] = [];
      const asked: string[] = [];
      for (const { parts, batches, shared: straddling } of stretches) {
        const first = seen.length;
        for (const packed of batches) {
          const batch = unpackBatch(structuredClone(packed));
          expect(batch.first + batch.start).toBe(seen.length);
          seen.push(...entriesIn(batch.entries).slice(batch.start, batch.end));
          const ids = [...batch.ids];
          // The second of a pair asks nothing anew.
          if (!(packed.isShared && batch.start > 0)) asked.push(...ids);
          if (packed.isShared) {
            shared += 1;
            expect(ids.length).toBeLessThanOrEqual(idsPerCall);
          } else expect(batch.entries.length).toBe(batch.end - batch.start);
        }
        expect(parts[0]).toBe(first / rowsPerPart);
        expect(parts).toHaveLength(Math.ceil((seen.length - first) / rowsPerPart));
        if (straddling !== undefined) expect([...straddling.ids]).toEqual([...unpackBatch(lastOf(batches)).ids]);
      }
      expect(seen).toEqual(entries);
      expect(asked).toEqual(entries.filter(({ sighting }) => sighting === 'valid').map((entry) => entry.text));
    }),
    { seed: 91, numRuns: 300 },
  );
  expect(shared).toBeGreaterThan(100);
});

function lastOf<T>(items: readonly T[]): T {
  const last = items.at(-1);
  if (last === undefined) throw new Error('a stretch without batches');
  return last;
}
