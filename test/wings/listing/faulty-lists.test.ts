import { describe, expect, it } from 'vitest';
import { Brake } from '../../../src/core/client/policies/brake.ts';
import { defaultOverrun, overrunOf } from '../../../src/core/client/policies/shared-pace.ts';
import { mostListCalls } from '../../../src/wings/listing/list-pages.ts';
import { RangeWalk } from '../../../src/wings/listing/walk/range-walk.ts';
import { TokenWalk, NumberedWalk } from '../../../src/wings/listing/open-walk.ts';
import type { Walk, WalkOptions } from '../../../src/wings/listing/walk/walk.ts';
import { runsAll } from '../../support/lane.ts';
import { FaultyLists, faultyLimit, type ListFault } from '../../support/listing/faulty-lists.ts';

const walks = {
  tokens: (options: WalkOptions) => new TokenWalk({ ...options, endsByToken: true }),
  numbers: (options: WalkOptions) => new NumberedWalk(options),
  places: (options: WalkOptions) => new RangeWalk({ ...options, direction: 'rising' }),
} as const;
type Way = keyof typeof walks;

const pages: readonly ListFault[] = (['empty', 'half', 'repeat', 'circle', 'lostToken'] as const).flatMap((page) =>
  (['once', 'always'] as const).flatMap((how): ListFault[] => [
    { page, how },
    { page, how, total: 1 },
  ]),
);
const totals: readonly ListFault[] = [
  ...[0.5, 0.9, 1.1, 1.5].map((total) => ({ total })),
  ...[-1, 1].map((totalOff) => ({ total: 1, totalOff })),
];
const rest: readonly ListFault[] = [
  {},
  { total: 1 },
  { moves: true },
  { moves: true, total: 1 },
  { cut: 10 },
  { cut: 10, total: 1 },
  { cut: 1, total: 1 },
  { cut: 10, total: 1, page: 'lostToken', how: 'always' },
  { dropped: 0.02, total: 1, page: 'lostToken', how: 'always' },
  { dropped: 0.02 },
  { dropped: 0.02, total: 1 },
  { dropped: 0.5, total: 1 },
  { dropped: 0.99 },
  { dropped: 0.99, total: 1 },
  { dropped: 0.5, total: 1, page: 'empty', how: 'once' },
];
const faults = [...pages, ...totals, ...rest];

interface Run {
  readonly proof: string;
  readonly why: string;
  readonly calls: number;
  readonly found: Set<bigint>;
  readonly lists: FaultyLists;
}

const overrun = overrunOf(defaultOverrun);

/** Walks through a faulty list under the brake of a run. */
async function walked(way: Way, fault: ListFault, rows: number, seed: number): Promise<Run> {
  const lists = new FaultyLists(rows, fault, seed);
  const total = fault.total === undefined ? 'none' : 'alone';
  const walk: Walk = walks[way]({ limit: faultyLimit, concurrency: 1, total, totalCounts: undefined });
  const brake = new Brake({ overrun });
  const found = new Set<bigint>();
  const call = (): { ids: { length: number; first: undefined }; repeats: true } => ({
    ids: { length: 1, first: undefined },
    repeats: true,
  });
  let printed = 0;
  let proof: string | undefined;
  for (;;) {
    const [request] = walk.next();
    printed = Math.max(printed, mostListCalls(walk, overrun));
    brake.plans(walk.planned, Math.min(walk.mostEmpty, walk.counts.emptyPages + walk.counts.askedAgain));
    if (request === undefined) break;
    try {
      await brake.turn(call(), () => Promise.resolve(0));
    } catch {
      proof = 'overrun';
      break;
    }
    if (request.kind === 'total') walk.totalled(lists.total());
    else {
      const page = lists.page(request);
      const view = new DataView(page.keys.buffer, page.keys.byteOffset);
      for (let at = 0; at < page.keys.length; at += 32) found.add(view.getBigUint64(at) << 192n);
      walk.answered(request, page);
    }
  }
  expect(lists.calls).toBeLessThanOrEqual(printed);
  proof ??= walk.circle === undefined ? walk.verdict().proof : 'circle';
  return { proof, why: walk.circle ?? walk.verdict().why ?? '', calls: lists.calls, found, lists };
}

const isProof = (proof: string): boolean => !['none', 'circle', 'overrun'].includes(proof);

function lacking(members: ReadonlySet<bigint>, found: ReadonlySet<bigint>): number {
  return [...members].filter((key) => !found.has(key)).length;
}

describe('lists of a faulty service', () => {
  const seeds = runsAll ? 3 : 1;
  const sizes = runsAll ? [1, 99, 100, 101, 350, 1000, 2050] : [350];
  for (const way of ['tokens', 'numbers', 'places'] as const)
    it.each(faults)(
      `by ${way} are not proven while a counted member lacks, and end within the bound: %o`,
      async (fault) => {
        for (const rows of sizes)
          for (let seed = 1; seed <= seeds; seed += 1) {
            const { proof, found, lists, why } = await walked(way, fault, rows, seed);
            if (!isProof(proof)) continue;
            const counted = (lists.total() ?? 0) - lists.hidden;
            const stable = lists.stable();
            const says = `${rows} rows, ${proof}, ${why}`;
            expect(Math.min(stable.size, counted) <= found.size || lacking(stable, found) === 0, says).toBe(true);
            if (fault.moves === true) expect(lacking(stable, found), says).toBe(0);
            // No member follows the second page of a shorter list.
            if (fault.page === 'empty' && fault.how === 'once' && rows > 2 * faultyLimit)
              expect(lacking(stable, found), says).toBe(0);
          }
      },
    );

  it.each(['tokens', 'numbers', 'places'] as const)('by %s are proven where nothing is wrong', async (way) => {
    for (const rows of [1, 100, 350, 1000]) {
      const { proof, calls } = await walked(way, { total: 1 }, rows, 1);
      expect(proof).toBe('total');
      const full = Math.ceil(rows / faultyLimit);
      expect(calls).toBeLessThanOrEqual(full + 3 + (way === 'numbers' ? full : 0));
    }
  });

  it('that go in a circle end at most two calls later', async () => {
    const { proof, why, calls } = await walked('tokens', { page: 'circle', how: 'always' }, 350, 1);
    expect({ proof, calls }).toEqual({ proof: 'circle', calls: 3 });
    expect(why).toMatch(/^the token \d+… came before$/);
    const numbered = await walked('numbers', { page: 'circle', how: 'always', total: 1 }, 350, 1);
    expect(numbered).toMatchObject({ proof: 'circle', calls: 5, why: 'the page 3 has no new member' });
  });

  it('by tokens, of which one page repeats another, are requested once more, and else not proven', async () => {
    expect(await walked('tokens', { page: 'repeat', how: 'once', total: 1 }, 350, 1)).toMatchObject({
      proof: 'total',
      calls: 7,
    });
    expect(await walked('tokens', { page: 'repeat', how: 'always', total: 1 }, 200, 1)).toMatchObject({
      proof: 'none',
      why: '100 ids came twice: the pages moved while they were read, 100 of 200 members came',
    });
  });

  it('that lose a token are not proven against the total', async () => {
    const lost = { page: 'lostToken', total: 1 } as const;
    expect(await walked('tokens', { ...lost, how: 'once' }, 350, 1)).toMatchObject({ proof: 'total' });
    expect(await walked('tokens', { ...lost, how: 'always' }, 350, 1)).toMatchObject({
      proof: 'none',
      why: 'the service counts 350 members, and 200 came',
    });
  });

  it.each(['tokens', 'numbers', 'places'] as const)('by %s get back what one answer lacked', async (way) => {
    for (const page of ['empty', 'half'] as const) {
      const { proof, found, calls } = await walked(way, { page, how: 'once', total: 1 }, 350, 1);
      expect({ proof, members: found.size }).toEqual({ proof: 'total', members: 350 });
      expect(calls).toBeLessThanOrEqual(4 + 3 + 2 + (way === 'numbers' ? 4 : 0));
    }
  });

  it('by numbers are not proven when members moved, and their boundaries are requested', async () => {
    const { proof, why } = await walked('numbers', { moves: true, total: 1 }, 350, 1);
    expect({ proof, why }).toEqual({
      proof: 'none',
      why: 'page 1 ends at another id now: members moved while the pages were read',
    });
  });

  it.each(['tokens', 'places'] as const)('by %s of pages that are cut end at the brake', async (way) => {
    const counted = await walked(way, { cut: 1, total: 1 }, 1000, 1);
    expect(counted.proof).toBe('overrun');
    // 13 are planned: half of them, and 156, beside.
    expect(counted.calls).toBe(13 + 6 + 156);
    expect((await walked(way, { cut: 1 }, 1000, 1)).proof).toBe('overrun');
  });
});
