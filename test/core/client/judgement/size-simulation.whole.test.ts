import { expect, it } from 'vitest';
import { mostCalls, type Overrun } from '../../../../src/core/client/policies/shared-pace.ts';
import type { AnswerEntry } from '../../../../src/core/client/policies/with-journal.ts';
import { runsAll } from '../../../support/lane.ts';
import type { Asked, Service } from './services.ts';
import { type Draw, drawing, type Outcome, simulate } from './simulate.ts';

/**
 * What a service does with the sizes of calls, in worlds drawn at random: each is one command that is run three times with the same
 * journal, or until it is complete.
 */
interface World {
  readonly seed: number;
  readonly planned: number;
  readonly idsPerCall: number;
  readonly concurrency: number;
  readonly threads: 1 | 2;
  /** The words of a refusal for its size; undefined: it is taken. @param call counted from 1, over all runs */
  readonly refuses: (asked: Asked, call: number) => string | undefined;
}

type Drawn = Omit<World, 'refuses' | 'seed'>;

const kinds = {
  /** Some calls are refused, once each, and the same calls are taken later. */
  stray: (draw: Draw, { idsPerCall }: Drawn) => {
    const calls = draw([[1], [4], [20], [1, 2], [4, 5], [1, 4, 20]]);
    const limits = [1, 5, idsPerCall / 10, idsPerCall / 4];
    const words = draw(['too large', ...limits.map((limit) => `at most ${limit} ids`)]);
    return ({ first, end }: Asked, call: number) => (calls.includes(call) && end - first > 1 ? words : undefined);
  },
  /** No call is ever taken. */
  nothing: (draw: Draw) => {
    const words = draw(['too large', 'at most 0 ids', 'body exceeds 10 bytes']);
    return () => words;
  },
  /** One of several backends takes fewer ids. */
  backend: (draw: Draw, { idsPerCall }: Drawn) => {
    const [every, limit] = [draw([3, 10]), draw([idsPerCall / 2, idsPerCall / 10])];
    const words = draw(['too large', `at most ${limit} ids`]);
    return ({ first, end, random }: Asked) => (end - first > limit && random() < 1 / every ? words : undefined);
  },
  /** One record is so large that no answer may hold it and many others. */
  fat: (draw: Draw, { planned, idsPerCall }: Drawn) => {
    const [fat, most] = [draw([0, 1, idsPerCall - 1, planned * idsPerCall - 1]), draw([1, idsPerCall / 10])];
    return ({ first, end }: Asked) =>
      first <= fat && fat < end && end - first > most ? 'response too large' : undefined;
  },
  /** The service takes at least a tenth of what is requested. */
  limit: (draw: Draw, { idsPerCall }: Drawn) => limited(draw, draw([0.1, 0.25, 0.5, 0.9]) * idsPerCall),
  /** It takes less. */
  small: (draw: Draw, { idsPerCall }: Drawn) => limited(draw, Math.max(1, draw([0.01, 0.05]) * idsPerCall)),
};

function limited(draw: Draw, limit: number) {
  const words = draw(['too large', `at most ${limit} ids`]);
  return ({ first, end }: Asked) => (end - first > limit ? words : undefined);
}

const overrun: Overrun = { percent: 50, calls: 'auto' };

function worldOf(kind: keyof typeof kinds, seed: number): World {
  const draw = drawing(seed);
  const drawn = {
    planned: draw([1, 2, 5, 20, 60]),
    idsPerCall: draw([100, 1000]),
    concurrency: draw([1, 8]),
    threads: draw([1, 2] as const),
  };
  return { seed, ...drawn, refuses: kinds[kind](draw, drawn) };
}

async function runsOf({ seed, planned, idsPerCall, concurrency, threads, refuses }: World): Promise<Outcome[]> {
  let calls = 0;
  const service: Service = (asked) => {
    calls += 1;
    const refusal = refuses(asked, calls);
    return refusal === undefined ? { ok: true, ms: 200 } : { ok: false, ms: 20, refusal };
  };
  const journal = new Map<string, AnswerEntry>();
  const outcomes: Outcome[] = [];
  for (let run = 1; run <= 3; run += 1) {
    const outcome = await simulate({
      service,
      ids: planned * idsPerCall,
      idsPerCall,
      seed: seed + run,
      concurrency,
      threads,
      overrun,
      journal,
    });
    outcomes.push(outcome);
    if (outcome.exit === 0) break;
  }
  return outcomes;
}

it('what two calls in flight are told at one moment is no limit', async () => {
  const refuses = (_: Asked, call: number) => (call === 4 || call === 5 ? 'at most 1 id' : undefined);
  const world = { seed: 82_000, planned: 60, idsPerCall: 100, concurrency: 8, threads: 2 } as const;
  const [first] = await runsOf({ ...world, refuses });
  expect(first).toMatchObject({ exit: 0, calls: 62 });
});

const worlds = runsAll ? 350 : 6;

it('one refusal that names a tenth of what was taken before costs one call', async () => {
  const refuses = (_: Asked, call: number) => (call === 4 ? 'at most 10 ids' : undefined);
  const world = { seed: 93_000, planned: 20, idsPerCall: 100, concurrency: 1, threads: 2 } as const;
  const [first] = await runsOf({ ...world, refuses });
  expect(first).toMatchObject({ exit: 0, calls: 21 });
});

it.each(Object.keys(kinds) as (keyof typeof kinds)[])(
  'sizes of calls (%s): no id fails, no run passes its limit, and what is believed wrongly is found out',
  async (kind) => {
    let complete = 0;
    const beyond: number[] = [];
    for (let seed = 1; seed <= worlds; seed += 1) {
      const world = worldOf(kind, 1000 * seed);
      const { planned } = world;
      const told = `${kind} ${seed}: ${JSON.stringify(world)}`;
      const outcomes = await runsOf(world);
      for (const { failed, calls } of outcomes) {
        expect(failed, told).toEqual([]);
        expect(calls, told).toBeLessThanOrEqual(mostCalls(planned, overrun));
      }
      const [first] = outcomes;
      if (kind === 'nothing')
        for (const outcome of outcomes)
          expect({ exit: outcome.exit, calls: outcome.calls }, told).toEqual({ exit: 5, calls: 3 });
      if (kind === 'stray') {
        expect(first?.exit, told).toBe(0);
        beyond.push((first?.calls ?? 0) - planned);
      }
      if (outcomes.at(-1)?.exit === 0) complete += 1;
    }
    if (kind === 'stray') {
      beyond.sort((a, b) => a - b);
      const [median, most] = [0.5, 0.95].map((share) => beyond[Math.floor(share * worlds)]);
      expect(median).toBeLessThanOrEqual(3);
      expect(most).toBeLessThanOrEqual(55);
    }
    if (kind === 'backend' || kind === 'fat') expect(complete).toBeGreaterThanOrEqual(0.95 * worlds);
  },
  600_000,
);
