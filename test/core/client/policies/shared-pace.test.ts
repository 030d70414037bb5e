import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fixedOverrun,
  leastForAll,
  mostCalls,
  overrunOf,
  overrunOfWorker,
  plannedCalls,
} from '../../../../src/core/client/policies/shared-pace.ts';

describe('the overrun of a job', () => {
  it.each([
    [['50%', 'auto'], { percent: 50, calls: 'auto' }],
    [['50%', 250], { percent: 50, calls: 250 }],
    [[250, '50%'], { percent: 50, calls: 250 }],
    [['500'], { percent: 0, calls: 500 }],
    [['12.5%'], { percent: 12.5, calls: 0 }],
    [[0], { percent: 0, calls: 0 }],
    [['none'], undefined],
  ] as const)('is read from %j', (parts, expected) => {
    expect(overrunOf(parts)).toEqual(expected);
  });

  it.each([
    [1, 61],
    [3, 64],
    [5, 67],
    [20, 270],
    [21, 281],
    [1000, 1750],
  ])('is 50 % and 60 to 250 calls by default: %i planned calls never become more than %i', (planned, most) => {
    expect(mostCalls(planned, { percent: 50, calls: 'auto' })).toBe(most);
  });

  it('grows with the plan, and its calls no more from the plan on that has all of them', () => {
    const calls = fc.oneof(fc.nat(5000), fc.constant('auto' as const));
    const overrun = fc.record({ percent: fc.integer({ min: 0, max: 4000 }).map((n) => n / 10), calls });
    fc.assert(
      fc.property(fc.nat(1_000_000), overrun, (planned, each) => {
        const fixed = fixedOverrun(each, planned);
        expect(mostCalls(planned, each)).toBe(
          Math.floor((planned * (100 + each.percent)) / 100 + 1e-7) + (fixed?.calls ?? 0),
        );
        expect(mostCalls(planned + 1, each)).toBeGreaterThan(mostCalls(planned, each));
        expect(fixedOverrun(each, planned + leastForAll)).toEqual(fixedOverrun(each, leastForAll));
      }),
    );
  });

  it('divides its calls, and not its share, between workers that know nothing of each other', () => {
    expect(overrunOfWorker({ percent: 50, calls: 250 }, 8)).toEqual({ percent: 50, calls: 32 });
    expect(overrunOfWorker(undefined, 8)).toBeUndefined();
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 50 }), fc.nat(1000), (plans, calls) => {
        const each = overrunOfWorker({ percent: 50, calls }, plans.length) ?? { percent: 0, calls: 0 };
        const all = plans.reduce((sum, planned) => sum + mostCalls(planned, each), 0);
        const whole = mostCalls(
          plans.reduce((sum, planned) => sum + planned, 0),
          { percent: 50, calls },
        );
        expect(all).toBeLessThanOrEqual(whole + plans.length);
      }),
    );
  });
});

it('planned calls are whole, though the worth of pieces is a sum of shares', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.nat(100_000_000), (idsPerCall, ids) => {
      expect(plannedCalls(ids / idsPerCall)).toBe(Math.ceil(ids / idsPerCall));
    }),
  );
});
