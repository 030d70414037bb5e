import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  mostCalls,
  overrunCredits,
  overrunOf,
  overrunOfWorker,
  plannedCalls,
  worthOfId,
} from '../../../../src/core/client/policies/overrun.ts';

const size = fc.integer({ min: 1, max: 1_000_000 });

describe('the overrun of a job', () => {
  it.each([
    [['50%', 250], { percent: 50, calls: 250 }],
    [[250, '50%'], { percent: 50, calls: 250 }],
    [['500'], { percent: 0, calls: 500 }],
    [['12.5%'], { percent: 12.5, calls: 0 }],
    [[0], { percent: 0, calls: 0 }],
    [['none'], undefined],
  ] as const)('is read from %j', (parts, expected) => {
    expect(overrunOf(parts)).toEqual(expected);
  });

  it('is 50 % and 250 calls by default: 3 planned calls may become 254, and cost 480 + 40,240 credits', () => {
    const standard = { percent: 50, calls: 250 };
    expect(mostCalls(3, standard)).toBe(254);
    expect(overrunCredits(3, standard, 160)).toBe(40_240);
    expect(overrunCredits(3, standard, 0)).toBe(0);
  });

  it('is not passed in credits by the calls that it allows, and grows with the plan', () => {
    const overrun = fc.record({ percent: fc.integer({ min: 0, max: 4000 }).map((n) => n / 10), calls: fc.nat(5000) });
    fc.assert(
      fc.property(fc.nat(1_000_000), overrun, fc.nat(1000), (planned, each, price) => {
        const most = mostCalls(planned, each);
        expect(most).toBeGreaterThanOrEqual(planned + each.calls);
        expect(mostCalls(planned + 1, each)).toBeGreaterThan(most);
        const ceiling = planned * price + overrunCredits(planned, each, price);
        expect(most * price).toBeLessThanOrEqual(ceiling);
        expect((most + 1) * price).toBeGreaterThan(price === 0 ? -1 : ceiling - 1);
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

describe('what ids are worth', () => {
  it('is their calls in batches that are cut to what the service is known to take', () => {
    fc.assert(
      fc.property(
        size,
        size,
        fc.tuple(fc.integer({ min: 1, max: 300 }), fc.nat()),
        (idsPerCall, cap, [batches, rest]) => {
          const taken = Math.min(cap, idsPerCall);
          const last = rest % idsPerCall;
          const needed = batches * Math.ceil(idsPerCall / taken) + Math.ceil(last / taken);
          let worth = 0;
          for (let batch = 0; batch < batches; batch += 1) worth += idsPerCall * worthOfId({ idsPerCall, cap: taken });
          const planned = plannedCalls(worth + last * worthOfId({ idsPerCall, cap: taken }));
          expect(planned).toBeGreaterThanOrEqual(needed);
          // Exact for whole batches; the rest is cut as evenly as a whole batch would be.
          if (last === 0) expect(planned).toBe(needed);
        },
      ),
    );
  });

  it('is the quotient of both, rounded up, where a call holds what the job says', () => {
    fc.assert(
      fc.property(size, fc.nat(100_000_000), (idsPerCall, ids) => {
        expect(plannedCalls(ids * worthOfId({ idsPerCall }))).toBe(Math.ceil(ids / idsPerCall));
      }),
    );
  });
});
