import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { overdueHours, maxAgeOf } from '../../../../src/wings/nights/base/ages.ts';
import { assetClasses } from '../../../../src/wings/nights/base/asset-classes.ts';
import { BaseKeys, marks } from '../../../../src/wings/nights/base/base-keys.ts';
import { chooseIds } from '../../../../src/wings/nights/base/choose-ids.ts';
import { dayMs } from '../../../../src/lib/clock.ts';
import { generatedId } from '../../../../packages/practice-service/src/generated/generated-assets.ts';

const startedAtMs = Date.UTC(2026, 10, 20, 2);
const classes = assetClasses({
  maxAge: '7d',
  classes: [
    { when: ['burnt'], maxAge: 'never' },
    { when: ['frozen', '!immutable'], maxAge: '2d' },
  ],
});

interface Given {
  readonly fate: 'row' | 'missing' | 'failed';
  readonly days: number;
  readonly assetClass: number;
}

function keysOf(given: readonly Given[]): BaseKeys {
  const keys = new BaseKeys(given.length);
  keys.addAll(
    given.map(({ fate, days, assetClass }, index) => {
      return { id: generatedId(3, index), fate, timeMs: startedAtMs - days * dayMs, assetClass };
    }),
  );
  for (const slot of keys.slots()) keys.mark(slot, marks.listed);
  return keys;
}

const anyKey: fc.Arbitrary<Given> = fc.record({
  fate: fc.constantFrom('row', 'row', 'row', 'missing', 'failed'),
  days: fc.integer({ min: 0, max: 12 }),
  assetClass: fc.integer({ min: 0, max: 2 }),
});

describe('the choice of what is requested', () => {
  it('keeps to the limit, fills its calls, prefers what is most overdue and never takes what never is stale', () => {
    fc.assert(
      fc.property(
        fc.array(anyKey, { maxLength: 60 }),
        fc.integer({ min: 0, max: 20 }),
        fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
        (given, newIds, calls) => {
          const keys = keysOf(given);
          const maxCredits = calls === undefined ? undefined : calls * 160;
          const base = { missingAfter: '3d', maxCredits };
          const options = { base, classes, startedAtMs, idsPerCall: 8, creditsPerCall: 160, newIds };
          const choice = chooseIds(keys, options);
          const failed = given.filter(({ fate }) => fate === 'failed').length;
          const always = Math.ceil((newIds + failed) / 8);
          if (calls !== undefined) expect(Math.ceil(choice.total / 8)).toBeLessThanOrEqual(always + calls);
          const { asked } = choice;
          expect(choice.total).toBe(asked.new + asked.failed + asked.missing + asked.stale);
          expect(asked.failed).toBe(failed);
          const overdue = (slot: number): number => {
            const age = keys.fate(slot) === 'row' ? classes.all[keys.assetClass(slot)]?.maxAge : maxAgeOf('3d');
            return overdueHours(age ?? maxAgeOf('7d'), keys.timeMs(slot), startedAtMs);
          };
          const rows = [...keys.slots()].filter((slot) => keys.fate(slot) === 'row');
          const taken = rows.filter((slot) => keys.has(slot, marks.asked));
          const left = rows.filter((slot) => !keys.has(slot, marks.asked));
          const least = Math.min(Infinity, ...taken.map(overdue));
          expect(least).toBeGreaterThan(Number.NEGATIVE_INFINITY);
          for (const slot of left) expect(overdue(slot)).toBeLessThanOrEqual(taken.length === 0 ? Infinity : least);
          // A call is left with free places only when nothing could fill it.
          if (choice.total % 8 !== 0)
            expect(left.every((slot) => overdue(slot) === Number.NEGATIVE_INFINITY)).toBe(true);
          expect(choice.carried).toBe(left.length);
          const again = keysOf(given);
          expect(chooseIds(again, options)).toEqual(choice);
        },
      ),
      { seed: 7, numRuns: 200 },
    );
  });

  it('takes among ids of one age the same ones, in whatever order and on whatever night they are listed', () => {
    const given = Array.from({ length: 2000 }, (_, index) => generatedId(3, index));
    const taken = (ids: readonly string[], night: number): string[] => {
      const keys = new BaseKeys(ids.length);
      const timeMs = startedAtMs - 20 * dayMs;
      keys.addAll(ids.map((id) => ({ id, fate: 'row', timeMs, assetClass: 2 })));
      for (const slot of keys.slots()) keys.mark(slot, marks.listed);
      const base = { missingAfter: '3d', maxCredits: 160 };
      const options = { base, classes, idsPerCall: 500, creditsPerCall: 160, newIds: 0 };
      expect(chooseIds(keys, { ...options, startedAtMs: startedAtMs + night * dayMs }).asked.stale).toBe(500);
      return ids.filter((id) => keys.has(keys.slotOf(id), marks.asked)).sort();
    };
    expect(taken(given.toReversed(), 1)).toEqual(taken(given, 0));
  });

  it.each([
    // From 22:00 to 02:00 the date changed, and four hours passed.
    ['1d', true],
    ['2d', false],
    ['4h', true],
    ['5h', false],
    ['never', false],
  ])('counts days as dates and hours rounded: %s', (age, isStale) => {
    const then = Date.UTC(2026, 10, 19, 22, 0, 30);
    expect(overdueHours(maxAgeOf(age), then, Date.UTC(2026, 10, 20, 2)) >= 0).toBe(isStale);
  });

  it.each([
    ['1d', 9 * dayMs, Infinity],
    ['12h', 9 * dayMs, Infinity],
    ['7d', 365 * dayMs, Infinity],
    ['never', 9 * dayMs, -Infinity],
    // Two machines whose clocks differ a little.
    ['1d', 60_000, -24],
    ['12h', 60_000, -12],
  ])('takes a time in the future for the most overdue: %s', (age, ahead, hours) => {
    expect(overdueHours(maxAgeOf(age), startedAtMs + ahead, startedAtMs)).toBe(hours);
  });
});
