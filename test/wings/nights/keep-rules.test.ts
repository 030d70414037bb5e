import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type KeepRules, keptByRules } from '../../../src/wings/nights/keep-rules.ts';

const none: KeepRules = { last: 0, daily: 0, weekly: 0, monthly: 0 };

const dayAt = (index: number): string =>
  new Date(Date.UTC(2024, 10, 1) + index * 86_400_000).toISOString().slice(0, 10);

const anyNights = fc
  .uniqueArray(fc.tuple(fc.integer({ min: 0, max: 500 }), fc.constantFrom('a', 'b')), {
    selector: ([day, name]) => `${day}${name}`,
    maxLength: 60,
  })
  .map((all) => all.map(([day, name]) => ({ day: dayAt(day), name: `${dayAt(day)}${name}` })));

const anyRules = fc.record({
  last: fc.nat({ max: 8 }),
  daily: fc.nat({ max: 8 }),
  weekly: fc.nat({ max: 8 }),
  monthly: fc.nat({ max: 8 }),
});

function names(days: readonly string[], rules: Partial<KeepRules>): string[] {
  const nights = days.map((day) => ({ day, name: day }));
  return [...keptByRules(nights, { ...none, ...rules }).keys()].sort();
}

describe('the rules of prune', () => {
  it('count days, weeks and months for which exports exist', () => {
    const days = ['2026-11-23', '2026-11-22', '2026-11-16', '2026-11-15', '2026-10-31', '2026-08-01'];
    expect(names(days, { daily: 3 })).toEqual(['2026-11-16', '2026-11-22', '2026-11-23']);
    // The 22nd is a Sunday, and of the week of the 16th.
    expect(names(days, { weekly: 3 })).toEqual(['2026-11-15', '2026-11-22', '2026-11-23']);
    expect(names(days, { monthly: 3 })).toEqual(['2026-08-01', '2026-10-31', '2026-11-23']);
  });

  it.each([
    ['2026-01-01', '2026-W01'],
    ['2027-01-03', '2026-W53'],
    ['2024-12-30', '2025-W01'],
    ['2023-01-01', '2022-W52'],
  ])('put %s into the ISO week %s', (day, week) => {
    expect([...keptByRules([{ name: 'a', day }], { ...none, weekly: 1 }).values()]).toEqual([[`weekly ${week}`]]);
  });

  it('say each reason why an export is kept', () => {
    const nights = ['2026-11-22', '2026-11-23'].map((day) => ({ day, name: day }));
    const kept = keptByRules(nights, { last: 2, daily: 1, weekly: 0, monthly: 1 });
    expect(kept.get('2026-11-23')).toEqual(['last 1 of 2', 'daily 2026-11-23', 'monthly 2026-11']);
    expect(kept.get('2026-11-22')).toEqual(['last 2 of 2']);
  });

  // Promise, Nothing misread: `prune` keeps what its rules say, on any dates
  it('keep as many as they say, the newest of each period, whatever the order of the names', () => {
    fc.assert(
      fc.property(anyNights, anyRules, (nights, rules) => {
        const kept = keptByRules(nights, rules);
        const reasons = [...kept].flatMap(([name, all]) => all.map((reason) => ({ name, reason })));
        const mine = (rule: string) => reasons.filter(({ reason }) => reason.startsWith(rule));
        expect(mine('last')).toHaveLength(Math.min(rules.last, nights.length));
        const days = new Set(nights.map(({ day }) => day));
        const months = new Set([...days].map((day) => day.slice(0, 7)));
        expect(mine('daily')).toHaveLength(Math.min(rules.daily, days.size));
        expect(mine('monthly')).toHaveLength(Math.min(rules.monthly, months.size));
        for (const { name, reason } of mine('monthly')) {
          const month = nights.filter(({ day }) => day.startsWith(reason.slice('monthly '.length)));
          expect(name).toBe(
            month
              .map((night) => night.name)
              .sort()
              .at(-1),
          );
        }
        const shuffled = keptByRules([...nights].reverse(), rules);
        expect([...shuffled].sort()).toEqual([...kept].sort());
      }),
    );
  });

  it('never keep less after a night was added, but for those that it replaces in a count', () => {
    fc.assert(
      fc.property(anyNights, fc.nat({ max: 8 }), (nights, daily) => {
        const before = keptByRules(nights, { ...none, daily });
        const after = keptByRules([...nights, { day: '2030-01-01', name: 'new' }], { ...none, daily });
        const gone = [...before.keys()].filter((name) => !after.has(name));
        expect(gone.length).toBeLessThanOrEqual(1);
        if (daily > 0) expect(after.has('new')).toBe(true);
      }),
    );
  });

  it('pruning again with the same rules removes nothing more', () => {
    fc.assert(
      fc.property(anyNights, anyRules, (nights, rules) => {
        const kept = keptByRules(nights, rules);
        const left = nights.filter(({ name }) => kept.has(name));
        expect([...keptByRules(left, rules).keys()].sort()).toEqual([...kept.keys()].sort());
      }),
    );
  });
});
