import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IdList } from '../../../../src/core/ids/id-list.ts';
import { namedLimit } from '../../../../src/core/client/judgement/call-size.ts';
import { lookUpBatch } from '../../../../src/core/client/look-up-batch.ts';
import { idsOf, noFlags, recordsOf, refusal, rowReader } from '../support/calls.ts';
import { sizeGuarded } from '../support/guarded.ts';
import { alwaysClient } from '../support/scripted-client.ts';
import { sampledRuns } from '../../../model/support/sample.ts';

const ids = idsOf(3000);

/** Looks batches up against a service that takes so many ids a call. */
async function lookUp(cap: number, sizes: readonly number[], words = 'too many') {
  const inner = alwaysClient((call) => (call.ids.length > cap ? refusal('size', words) : recordsOf(call)));
  const guard = sizeGuarded(inner);
  let from = 0;
  const work = sizes.map((size) => {
    const batch = IdList.of(ids.slice(from, (from += size)));
    return lookUpBatch(guard, { ids: batch, flags: noFlags, part: 0, singles: false, reader: rowReader });
  });
  const found = (await Promise.all(work)).flatMap(({ lookups }) => [...lookups].map(({ kind }) => kind));
  const refused = inner.asked.filter((call) => call.ids.length > cap).length;
  return { found, refused, answered: inner.asked.length - refused, guard };
}

describe('a service that takes fewer ids a call than it is asked', () => {
  it('gets calls of just as many, found by bisection', async () => {
    const { guard, refused, answered } = await lookUp(100, Array<number>(12).fill(250));
    expect(guard.refuses(100)).toBe(false);
    // Twelve calls leave before the first refusal is there.
    expect(refused).toBeLessThanOrEqual(12 + 5);
    // And one id alone, as nothing was answered yet.
    expect(answered).toBeLessThanOrEqual(36 + 12 + 1);
  });

  it('gets calls of the size that its refusal names, at once', async () => {
    const { guard, refused, answered } = await lookUp(100, [1000, 1000, 500], 'at most 100 ids a call');
    expect(guard.cap()).toBe(100);
    expect([refused, answered]).toEqual([3, 25]);
  });

  // Promise, Nothing overspent: The call size that a service takes is found with few refusals
  it('answers for every id, whatever it takes, with few refusals', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 300 }), sizes, async (cap, batches) => {
        const { found, refused, answered } = await lookUp(cap, batches);
        expect(found).toEqual(Array(batches.reduce((sum, size) => sum + size, 0)).fill('found'));
        const least = batches.reduce((sum, size) => sum + Math.ceil(size / cap), 0);
        const steps = Math.ceil(Math.log2(301));
        expect(refused).toBeLessThanOrEqual(batches.length + 2 * steps);
        // A batch has a piece more for each size that was tried while it was cut.
        expect(answered).toBeLessThanOrEqual(least + batches.length * (steps + 2));
      }),
      { seed: 21, ...sampledRuns(400) },
    );
  });
});

describe('namedLimit', () => {
  it.each([
    ['You can request at most 100 ids at a time', 100],
    ['batch size 1000 exceeds the limit of 1,00', 100],
    ['Too many ids: 1000, maximum is 250', 250],
    ['HTTP 413, error -32602: limited to 50', 50],
    ['too many ids', undefined],
    ['response exceeds 10 MiB', undefined],
    ['at most 10 ids, or at most 20 mints', undefined],
    ['exceeds the limit of 30 s', undefined],
    ['max 5000', undefined],
  ])('reads %s as %s', (words, limit) => {
    expect(namedLimit(words, 1000)).toBe(limit);
  });
});
