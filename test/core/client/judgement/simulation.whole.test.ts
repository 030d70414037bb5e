import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mostCalls, type Overrun } from '../../../../src/core/client/policies/shared-pace.ts';
import { sampled, sampledBeside, sampledRuns } from '../../../model/support/sample.ts';
import { runsAll } from '../../../support/lane.ts';
import { all, bucketOf, capacity, down, failing, flaky, outage, poisoned, type Service, spaced } from './services.ts';
import { type Outcome, simulate, type Simulation } from './simulate.ts';

interface Row {
  readonly name: string;
  readonly ids: number;
  readonly idsPerCall?: number;
  readonly make: () => Service;
  /** Calls that the contract's own simulation needed, in the median; a run needs at most half as many more. */
  readonly calls: number;
  readonly failed?: number;
  /** Where chance may leave nobody answered for the whole length of an outage. */
  readonly mayEnd?: boolean;
  readonly exit?: number;
  /** A promise, which `npm test` always holds; it takes every 4th of the other rows. */
  readonly isPromise?: true;
}

const thousand = 1000;

/** Services in trouble, and how many calls each costs. */
const rows: readonly Row[] = [
  { name: 'is well', ids: 20 * thousand, make: () => flaky(0), calls: 20 },
  { name: 'takes 1 call at once', ids: 60 * thousand, make: () => capacity(1), calls: 69 },
  // Promise, Whatever the service does: Limits of calls at once or a second, in whatever words
  { name: 'takes 2 calls at once', ids: 60 * thousand, make: () => capacity(2), calls: 68, isPromise: true },
  { name: 'takes 4 calls at once', ids: 60 * thousand, make: () => capacity(4), calls: 65 },
  { name: 'takes 7 calls at once', ids: 60 * thousand, make: () => capacity(7), calls: 62 },
  { name: 'takes 5 calls a second', ids: 20 * thousand, make: () => bucketOf(5), calls: 27 },
  { name: 'takes 5 calls a second, without a burst', ids: 20 * thousand, make: () => spaced(5), calls: 27 },
  // 71 in the contract's simulation, which does not space calls.
  { name: 'takes 2 calls a second', ids: 20 * thousand, make: () => bucketOf(2), calls: 30 },
  { name: 'takes 2 calls a second, for long', ids: 200 * thousand, make: () => bucketOf(2), calls: 215 },
  {
    name: 'says that 5 calls a second are enough',
    ids: 20 * thousand,
    make: () => failing(bucketOf(5, 20), 'pace'),
    calls: 27,
  },
  { name: 'fails 2 of 10 calls', ids: 40 * thousand, make: () => flaky(0.2), calls: 52, mayEnd: true },
  { name: 'fails 4 of 10 calls', ids: 40 * thousand, make: () => flaky(0.4), calls: 72, mayEnd: true },
  { name: 'fails 5 of 10 calls', ids: 40 * thousand, make: () => flaky(0.5), calls: 85, mayEnd: true },
  { name: 'is down for 2 s', ids: 40 * thousand, make: () => outage(0.45, 2), calls: 59 },
  { name: 'is down for 5 s', ids: 40 * thousand, make: () => outage(0.45, 5), calls: 61 },
  { name: 'is down for 20 s', ids: 40 * thousand, make: () => outage(0.45, 20), calls: 63 },
  // Promise, Whatever the service does: A minute's outage in mid-run: about 25 calls
  { name: 'is down for 59 s', ids: 40 * thousand, make: () => outage(0.45, 59), calls: 65, isPromise: true },
  { name: 'is down for 59 s at the start', ids: 40 * thousand, make: () => outage(0, 59), calls: 50 },
  {
    name: 'refuses everything for 1 s',
    ids: 60 * thousand,
    make: () => failing(outage(0.45, 1), 'refusal'),
    calls: 73,
  },
  // Promise, Whatever the service does: A service that answers nothing: about ten calls, no id blamed
  { name: 'is down for good', ids: 40 * thousand, make: () => down(), calls: 10, exit: 5, isPromise: true },
  { name: 'refuses the form of calls', ids: 3 * thousand, make: () => failing(down(), 'refusal'), calls: 3, exit: 5 },
  { name: 'finds all calls too fast', ids: 20 * thousand, make: () => failing(down(), 'pace'), calls: 10, exit: 5 },
  { name: 'fails for 1 id', ids: 40 * thousand, make: () => poisoned((id) => id === 12_345), calls: 68, failed: 1 },
  {
    name: 'fails for 8 ids',
    ids: 40 * thousand,
    make: () => poisoned((id) => id % 5000 === 77),
    calls: 282,
    failed: 8,
  },
  {
    name: 'fails for an id of each call',
    ids: 20 * thousand,
    make: () => poisoned((id) => id % 1000 === 500),
    calls: 924,
    failed: 20,
  },
  {
    // Promise, Whatever the service does: An id whose calls always fail is found, also in the only call
    name: 'fails for an id of the only call',
    ids: 800,
    make: () => poisoned((id) => id === 321),
    calls: 167,
    failed: 1,
    isPromise: true,
  },
  {
    name: 'fails for the first id of the only call',
    ids: 800,
    make: () => poisoned((id) => id === 0),
    calls: 167,
    failed: 1,
  },
  {
    name: 'fails for 3 of 4 calls',
    ids: 1000,
    idsPerCall: 250,
    make: () => poisoned((id) => [10, 300, 600].includes(id)),
    calls: 181,
    failed: 3,
  },
  {
    name: 'fails for 1 id and takes 2 calls at once',
    ids: 60 * thousand,
    make: () =>
      all(
        poisoned((id) => id === 12_345),
        capacity(2),
      ),
    calls: 102,
    failed: 1,
  },
  {
    name: 'fails for 1 id and takes 5 calls a second',
    ids: 40 * thousand,
    make: () =>
      all(
        poisoned((id) => id === 12_345),
        spaced(5),
      ),
    calls: 102,
    failed: 1,
  },
  {
    name: 'fails for 4 ids and 3 of 10 calls',
    ids: 40 * thousand,
    make: () =>
      all(
        flaky(0.3),
        poisoned((id) => id % 10_000 === 77),
      ),
    calls: 350,
    failed: 4,
    mayEnd: true,
  },
];

/** What holds whatever a service does. */
function expectHonest({ failed, invented }: Outcome, isBad: (id: number) => boolean): void {
  expect(failed.filter((id) => !isBad(id))).toEqual([]);
  expect(invented).toBe(0);
}

const seeds = [1, 2, 3];
/** `npm test` takes a third: another seed for each number of threads. */
const shots = sampled(
  seeds.flatMap((seed) => ([1, 2] as const).map((threads) => ({ seed, threads }))),
  3,
);

// Ids of the longest one alone take as long as half of the others.
const affordable = rows.filter(({ ids }) => runsAll || ids < 100 * thousand);
const taken = sampledBeside(affordable, ({ isPromise = false }) => isPromise, 4);

describe('a service that', () => {
  it.each(taken)('$name costs about $calls calls', async (row) => {
    const { ids, idsPerCall = thousand, make, failed = 0, exit = 0, mayEnd = false } = row;
    for (const { seed, threads } of shots) {
      const outcome = await simulate({ service: make(), ids, idsPerCall, seed, threads });
      const what = `seed ${seed}, ${threads} threads`;
      expect(outcome.calls, what).toBeLessThanOrEqual(1.5 * row.calls);
      if (!(mayEnd && outcome.exit === 5)) expect(outcome, what).toMatchObject({ exit });
      if (outcome.exit === 0) expect(outcome.failed, what).toHaveLength(failed);
      expect(outcome.invented).toBe(0);
    }
  });

  it.each([
    { where: 'the last of 21', ids: 20_001, bad: 20_000, planned: 21 },
    { where: 'the second of two', ids: 1001, bad: 1000, planned: 2 },
  ])('refuses one id alone in words ($where) costs hardly more calls than retries', async ({ ids, bad, planned }) => {
    // Of a plan of two, a service that fails at random shows little.
    for (const share of planned === 2 ? [0] : [0, 0.1]) {
      let calls = 0;
      for (const seed of seeds) {
        const service = all(
          poisoned((id) => id === bad, 200, { inWords: true }),
          flaky(share),
        );
        const outcome = await simulate({ service, ids, idsPerCall: 1000, seed });
        expect(outcome).toMatchObject({ exit: 0, failed: [bad] });
        calls += outcome.calls;
      }
      expect(calls / seeds.length).toBeLessThanOrEqual(planned * (1 + 3 * share) + 8 + 5);
    }
  });

  it('is well gets each call once, and is asked as fast as the job allows', async () => {
    const outcome = await simulate({ service: flaky(0), ids: 64_000, idsPerCall: 1000, seed: 7 });
    expect(outcome).toMatchObject({ exit: 0, calls: 64 });
    // Each call takes 0.2 s or 0.4 s: one alone, then eight lanes.
    expect(outcome.seconds).toBeLessThan(0.4 + (63 / 8) * 0.4 + 0.4);
    expect(outcome.events.filter(({ kind }) => kind === 'service' || kind === 'retry')).toEqual([]);
  });
});

describe('a service that takes 4 calls at once', () => {
  it.each([200, 1500])('hardly refuses any after 10 s, at %i ms a call', async (ms) => {
    const late: boolean[] = [];
    const service = capacity(4, ms);
    const watched: Service = (asked) => {
      const reply = service(asked);
      if (asked.now >= 10) late.push(reply.ok);
      return reply;
    };
    await simulate({ service: watched, ids: ms === 200 ? 1200 : 300, idsPerCall: 2, seed: 1 });
    expect(late.length).toBeGreaterThan(100);
    expect(late.filter((ok) => !ok).length).toBeLessThanOrEqual(0.03 * late.length);
  });
});

interface Trouble {
  readonly simulation: Omit<Simulation, 'service'>;
  readonly services: readonly (() => Service)[];
  readonly bad: readonly number[];
  /** Calls that the ids are worth. */
  readonly planned: number;
}

/** Up to two troubles at once, with some bad ids, for small exports of calls of all sizes. */
const trouble: fc.Arbitrary<Trouble> = fc
  .record({
    seed: fc.nat(),
    calls: fc.integer({ min: 1, max: 16 }),
    idsPerCall: fc.oneof(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 2, max: 1000 })),
    concurrency: fc.integer({ min: 1, max: 8 }),
    threads: fc.constantFrom<1 | 2>(1, 2),
    kinds: fc.uniqueArray(fc.constantFrom('capacity', 'rate', 'spaced', 'flaky', 'outage', 'refusing'), {
      maxLength: 2,
    }),
    level: fc.integer({ min: 1, max: 4 }),
    bad: fc.array(fc.nat({ max: 100_000 }), { maxLength: 2 }),
  })
  .map(({ seed, calls, idsPerCall, concurrency, threads, kinds, level, bad }) => {
    const ids = calls * idsPerCall;
    const made: Readonly<Record<(typeof kinds)[number], () => Service>> = {
      capacity: () => capacity(level),
      rate: () => bucketOf(level),
      spaced: () => spaced(level),
      flaky: () => flaky(level / 12),
      outage: () => outage(level / 2, 10 * level),
      refusing: () => failing(outage(0.3 + level / 2, level), 'refusal'),
    };
    return {
      simulation: { ids, idsPerCall, concurrency, threads, seed },
      services: kinds.map((kind) => made[kind]),
      bad: bad.map((id) => id % ids),
      planned: calls,
    };
  });

describe('combined troubles', () => {
  // Promise, Whatever the service does: Two troubles at once and bad ids: no good id fails, each bad one is found (sampled)
  it.each(sampled([37, 38, 39, 40, 41, 42], 3))(
    'never make a good id fail, find each bad one, and end (seed %i)',
    async (seed) => {
      const exits = new Map<number, number>();
      const runs = sampledRuns(300);
      await fc.assert(
        fc.asyncProperty(trouble, async ({ simulation, services, bad }) => {
          const isBad = (id: number): boolean => bad.includes(id);
          const service = all(...services.map((make) => make()), poisoned(isBad));
          const outcome = await simulate({ ...simulation, service });
          expectHonest(outcome, isBad);
          exits.set(outcome.exit, (exits.get(outcome.exit) ?? 0) + 1);
          if (outcome.exit === 0) expect(new Set(outcome.failed)).toEqual(new Set(bad));
        }),
        { seed, ...runs },
      );
      // Nearly all end well: what is down for good, or has no id that is answered, does not.
      expect(exits.get(0) ?? 0).toBeGreaterThan((runs.numRuns < 300 ? 0.7 : 260 / 300) * runs.numRuns);
    },
  );

  it('never pass the overrun, and end with 10 where it is reached', async () => {
    const exits = new Map<number, number>();
    const runs = sampledRuns(200);
    const overrun: fc.Arbitrary<Overrun> = fc.record({
      percent: fc.constantFrom(0, 50, 200),
      calls: fc.integer({ min: 0, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(trouble, overrun, async ({ simulation, services, bad, planned }, overrun) => {
        const isBad = (id: number): boolean => bad.includes(id);
        const service = all(...services.map((make) => make()), poisoned(isBad));
        const outcome = await simulate({ ...simulation, service, overrun });
        expectHonest(outcome, isBad);
        expect(outcome.calls).toBeLessThanOrEqual(mostCalls(planned, overrun));
        expect([0, 5, 10]).toContain(outcome.exit);
        exits.set(outcome.exit, (exits.get(outcome.exit) ?? 0) + 1);
      }),
      { seed: 43, ...runs },
    );
    expect(exits.get(10) ?? 0).toBeGreaterThan(runs.numRuns / 20);
    expect(exits.get(0) ?? 0).toBeGreaterThan(runs.numRuns / 20);
  });
});
