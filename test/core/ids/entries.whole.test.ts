import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CheckedId } from '../../../src/lib/ids/asset-id.ts';
import { Entries, type IdEntry } from '../../../src/core/ids/entries.ts';
import { idOf } from '../client/support/calls.ts';
import { entriesIn, inColumns } from './entries.ts';
import { anyGrapheme } from '../../support/any-text.ts';

const entry: fc.Arbitrary<IdEntry> = fc.oneof(
  fc.record({
    text: fc.nat(1000).map(idOf),
    source: fc.nat(3),
    line: fc.integer({ min: 1, max: 2 ** 50 }),
    state: fc.constantFrom('valid' as const, 'duplicate' as const),
    reason: fc.constant(''),
  }),
  fc.record({
    text: fc.string({ unit: anyGrapheme, maxLength: 200 }).map((text) => text.toWellFormed()),
    source: fc.nat(3),
    line: fc.nat(99),
    state: fc.constant('invalid' as const),
    reason: fc.constantFrom('no id', 'too long'),
  }),
);
const several = fc.oneof(
  fc.array(entry, { maxLength: 20 }),
  // More than there is room for at first.
  fc.array(entry, { minLength: 1200, maxLength: 1300, size: 'max' }),
);

describe('entries in columns', () => {
  it('are the entries that were added, also after they went to another thread', () => {
    fc.assert(
      fc.property(several, (all) => {
        const columns = inColumns(all);
        expect(entriesIn(columns)).toEqual(all);
        expect(entriesIn(Entries.of(structuredClone(columns.columns(0, all.length))))).toEqual(all);
        const ids = all.filter(({ state }) => state === 'valid').map(({ text }) => text);
        expect([...columns.ids()]).toEqual(ids);
        expect(columns.validBetween(0, all.length)).toBe(ids.length);
      }),
      { seed: 81, numRuns: 50 },
    );
  });

  it('are put together from ranges of others', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(several, fc.nat(1300), fc.nat(1300)), { maxLength: 5 }), (ranges) => {
        const joined = Entries.take(10);
        const expected: IdEntry[] = [];
        for (const [all, one, other] of ranges) {
          const from = Math.min(one, other, all.length);
          const to = Math.min(Math.max(one, other), all.length);
          joined.append(inColumns(all), from, to);
          expected.push(...all.slice(from, to));
        }
        expect(entriesIn(joined)).toEqual(expected);
      }),
      { seed: 82, numRuns: 50 },
    );
  });

  it('take an id as it was checked, and can be marked', () => {
    const id = new CheckedId();
    const columns = Entries.take(10);
    const texts = Array.from({ length: 1500 }, (_, n) => idOf(n)).concat('1'.repeat(32));
    for (const [n, text] of texts.entries()) {
      expect(id.readText(text)).toBe(true);
      columns.addId(id, 2, n + 1);
    }
    columns.markDuplicate(1);
    expect(entriesIn(columns)).toEqual(
      texts.map((text, n) => {
        return { text, source: 2, line: n + 1, state: n === 1 ? 'duplicate' : 'valid', reason: '' };
      }),
    );
    expect([...columns.ids()]).toEqual(texts.filter((_, n) => n !== 1));
  });

  it('leave nothing behind where their memory is used again', () => {
    const spare: Entries[] = [];
    const first = Entries.take(10, spare);
    first.add({ text: 'x', source: 1, line: 9, state: 'invalid', reason: 'no id' });
    first.release();
    const second = Entries.take(10, spare);
    expect(second).toBe(first);
    second.add({ text: idOf(1), source: 0, line: 1, state: 'valid', reason: '' });
    expect(entriesIn(second)).toEqual([{ text: idOf(1), source: 0, line: 1, state: 'valid', reason: '' }]);
  });

  it('are not kept for others once they are large', () => {
    const spare: Entries[] = [];
    const many = Entries.take(10, spare);
    for (let n = 0; n < 10_000; n += 1) many.add({ text: '', source: 0, line: 1, state: 'duplicate', reason: '' });
    const long = Entries.take(10, spare);
    long.add({ text: 'x'.repeat(1_000_000), source: 0, line: 1, state: 'duplicate', reason: '' });
    for (const large of [many, long]) large.release();
    expect(spare).toEqual([]);
  });
});
