import { describe, expect, it } from 'vitest';
import type { Direction } from '../../../src/wings/listing/walk/keys.ts';
import { RangeWalk } from '../../../src/wings/listing/walk/range-walk.ts';
import type { PageRequest, WalkOptions } from '../../../src/wings/listing/walk/walk.ts';
import { runsAll } from '../../support/lane.ts';
import {
  tableMillions as millions,
  type TableRow as Row,
  tableRows as rows,
} from '../../support/listing/list-table.ts';
import { SimulatedIndex } from '../../support/listing/simulated-index.ts';
import { type Walked, walkedIndex } from '../../support/listing/walked.ts';

const crowd = { space: 1e-4, share: 1 };

const seeds = runsAll ? 20 : 2;

function options(more: Partial<WalkOptions> = {}): WalkOptions {
  return { limit: 1000, concurrency: 1, total: 'none', totalCounts: undefined, ...more };
}

const ofRows = { total: 'alone', totalCounts: 'rows' } as const;

/** No walk may make more calls than it says beforehand. */
function mostPages(walk: RangeWalk): number {
  return walk.counts.pages + walk.mostEmpty;
}

/** The walk meets the same, whichever way the ids go. */
function windowOf({ window: [from, to] = [0, 1] }: Row, direction: Direction): readonly [number, number] {
  return direction === 'rising' ? [from, to] : [1 - to, 1 - from];
}

async function runs(
  row: Row,
  more: Partial<WalkOptions>,
  direction: Direction,
  count = seeds,
): Promise<readonly Walked[]> {
  const all: Walked[] = [];
  for (let seed = 0; seed < count; seed += 1) {
    const index = new SimulatedIndex({ ...row, window: windowOf(row, direction), seed: seed + 1, direction });
    const walk = new RangeWalk(options(more));
    const run = await walkedIndex(walk, index, () => index.rowCount, seed);
    expect(run.pages).toBeLessThanOrEqual(mostPages(walk));
    expect(run.verdict.proof === 'none' ? 0 : run.lost).toBe(0);
    all.push(run);
  }
  return all;
}

function meanPages(all: readonly Walked[]): number {
  return all.reduce((sum, { pages }) => sum + pages, 0) / all.length;
}

function provenShare(all: readonly Walked[]): number {
  return all.filter(({ verdict }) => verdict.proof !== 'none').length / all.length;
}

/** Of few seeds a mean and a share show little. */
const margin = runsAll ? 0.15 : 1;
const shareMargin = runsAll ? 0.1 : 0.6;

async function check(row: Row, count: number): Promise<void> {
  const alone = await runs(row, { direction: 'rising' }, 'rising', count);
  const counted = await runs(row, { direction: 'rising', ...ofRows }, 'rising', count);
  expect(provenShare(alone)).toBeGreaterThanOrEqual(row.proven - shareMargin);
  expect(provenShare(counted)).toBeGreaterThanOrEqual((row.provenOfRows ?? row.proven) - shareMargin);
  const means = [
    [row.mean, alone],
    [row.meanOfRows ?? row.mean, counted],
  ] as const;
  for (const [mean, all] of means)
    if (mean !== undefined) expect(Math.abs(meanPages(all) / mean - 1)).toBeLessThan(margin);
}

describe('the walk by places', () => {
  // Promise, Nothing misread: A proven list lost no member, if the assumption of its account holds (sampled)
  it.each(rows)(`loses nothing in proven lists: $name`, async (row) => {
    await check(row, seeds);
  });

  it.each(rows)('finds out that ids fall, and loses nothing in proven lists: $name', async (row) => {
    await runs(row, {}, 'falling');
    await runs(row, ofRows, 'falling');
  });

  it.each(rows)('loses nothing with eight ranges at once: $name', async (row) => {
    for (const direction of ['rising', 'falling'] as const) {
      await runs(row, { concurrency: 8 }, direction);
      await runs(row, { concurrency: 8, ...ofRows }, direction);
    }
  });

  it.runIf(runsAll).each(millions)('holds for a million: $name', async (row) => {
    await check(row, 3);
    await runs(row, { concurrency: 8 }, 'falling', 3);
  });

  it('costs at most two calls a range', async () => {
    const row = { name: '', rows: 25_000, mean: 26, proven: 1 };
    for (const { pages, verdict } of await runs(row, { concurrency: 8 }, 'rising')) {
      // An empty page at the end of a range is requested once more: members follow it.
      expect(pages).toBeLessThanOrEqual(30);
      expect(verdict.proof).toBe('ranges');
    }
  });

  it('does not cut a short list into ranges', async () => {
    for (const { pages } of await runs({ name: '', rows: 300, mean: 2, proven: 1 }, { concurrency: 8 }, 'rising'))
      expect(pages).toBe(2);
  });

  it('is not proven where half of the ids are crowded and 99.9 % are dropped: the known limit', async () => {
    const index = new SimulatedIndex({ rows: 250_000, seed: 1, dropped: 0.999, crowded: { space: 1e-4, share: 0.5 } });
    const walk = new RangeWalk(options());
    const { lost } = await walkedIndex(walk, index);
    // Shown so that nobody thinks the assumption is not needed.
    expect(lost).toBeGreaterThan(0);
  });
});

describe('the totals', () => {
  it('prove a list of as many members, and one page follows the last member', async () => {
    const index = new SimulatedIndex({ rows: 3000, seed: 1 });
    const walk = new RangeWalk(options({ total: 'withPage' }));
    const { verdict, pages, totals } = await walkedIndex(walk, index, () => index.members.size);
    expect({ proof: verdict.proof, pages, totals }).toEqual({ proof: 'total', pages: 4, totals: 1 });
  });

  it('above the count prove nothing where they may count shown rows only', async () => {
    for (let seed = 1; seed <= seeds; seed += 1) {
      const index = new SimulatedIndex({ rows: 25_000, seed, dropped: 0.999, window: [0.2, 0.7] });
      const walk = new RangeWalk(options({ total: 'alone' }));
      const { verdict, lost } = await walkedIndex(walk, index, () => index.members.size + 400);
      expect(verdict.proof === 'none' ? 0 : lost).toBe(0);
      expect(verdict.proof).not.toBe('total');
    }
  });

  it('below the count are not used', async () => {
    const index = new SimulatedIndex({ rows: 3000, seed: 1 });
    const walk = new RangeWalk(options({ total: 'alone' }));
    const { verdict, lost } = await walkedIndex(walk, index, () => 2999);
    expect({ verdict, lost }).toEqual({ verdict: { proof: 'ranges' }, lost: 0 });
  });

  it('that grew at the end send the walk on', async () => {
    const index = new SimulatedIndex({ rows: 3000, seed: 1, dropped: 1, window: [0.6, 1] });
    const walk = new RangeWalk(options({ total: 'alone' }));
    let asked = 0;
    const { verdict, totals } = await walkedIndex(walk, index, () => index.members.size + (asked++ > 0 ? 5 : 0));
    expect({ verdict, totals }).toEqual({ verdict: { proof: 'ranges' }, totals: 3 });
  });

  it('of nobody end a walk after one page', async () => {
    const index = new SimulatedIndex({ rows: 0, seed: 1 });
    const { verdict, pages, totals } = await walkedIndex(new RangeWalk(options(ofRows)), index, () => 0);
    expect({ verdict, pages, totals }).toEqual({ verdict: { proof: 'none', why: 'no members' }, pages: 1, totals: 2 });
  });
});

describe('a walk that cannot be proven', () => {
  it('ends after 17 pages without any member', async () => {
    const { verdict, pages } = await walkedIndex(new RangeWalk(options()), new SimulatedIndex({ rows: 0, seed: 1 }));
    expect({ verdict, pages }).toEqual({ verdict: { proof: 'none', why: 'no members' }, pages: 17 });
  });

  it('ends at the ceiling, and estimates the calls of the rest', async () => {
    const index = new SimulatedIndex({ rows: 25_000, seed: 3, crowded: crowd });
    const { verdict, pages } = await walkedIndex(new RangeWalk(options({ proofCalls: 10 })), index);
    expect(verdict.proof).toBe('none');
    expect(verdict.restCalls).toBeGreaterThan(10_000);
    expect(pages).toBe(35);
  });

  it('is proven by the number that the user knows', async () => {
    const index = new SimulatedIndex({ rows: 25_000, seed: 3, crowded: crowd });
    const { verdict, pages } = await walkedIndex(new RangeWalk(options({ expect: 25_000 })), index);
    expect({ verdict, pages }).toEqual({ verdict: { proof: 'expect' }, pages: 26 });
  });

  it('makes no step where places between ids are refused', () => {
    const walk = new RangeWalk(options());
    const index = new SimulatedIndex({ rows: 2000, seed: 1 });
    for (;;) {
      const [request] = walk.next();
      if (request?.kind !== 'page') break;
      if (request.after !== undefined && !request.startsAtId) walk.refused(request);
      else walk.answered(request, index.page(request));
    }
    expect(walk.verdict()).toMatchObject({ proof: 'ranges' });
  });
});

describe('a walk that is resumed', () => {
  it.each([1, 8])('asks for no page a third time, whatever the moment, with %i at once', (concurrency) => {
    for (let stopAt = 1; stopAt < 60; stopAt += runsAll ? 1 : 7) {
      const index = new SimulatedIndex({
        rows: 25_000,
        seed: 5,
        dropped: 0.999,
        window: [0.2, 0.7],
        direction: 'falling',
      });
      const first = new RangeWalk(options({ concurrency }));
      const kept: Parameters<RangeWalk['resume']>[] = [];
      while (kept.length < stopAt) {
        const requests = first.next();
        if (requests.length === 0) break;
        for (const request of requests) {
          if (request.kind !== 'page' || kept.length >= stopAt) continue;
          const page = index.page(request);
          kept.push([request, page]);
          first.answered(request, page);
        }
      }
      const second = new RangeWalk(options({ concurrency: 9 - concurrency }));
      for (const [request, page] of kept) second.resume(request, page);
      const placeOf = ({ after, before }: PageRequest): string => `${after ?? ''} ${before ?? ''}`;
      const asked = new Map<string, number>();
      const count = (request: PageRequest): void => {
        asked.set(placeOf(request), (asked.get(placeOf(request)) ?? 0) + 1);
      };
      for (const [request] of kept) count(request);
      const members = new Set<bigint>();
      const collect = (keys: Uint8Array): void => {
        const view = new DataView(keys.buffer, keys.byteOffset);
        for (let at = 0; at < keys.length; at += 32) members.add(view.getBigUint64(at));
      };
      for (const [, { keys }] of kept) collect(keys);
      for (let requests = second.next(); requests.length > 0; requests = second.next())
        for (const request of requests) {
          if (request.kind !== 'page') continue;
          count(request);
          // An empty page that members follow is requested once more.
          expect(asked.get(placeOf(request))).toBeLessThanOrEqual(2);
          const page = index.page(request);
          collect(page.keys);
          second.answered(request, page);
        }
      expect(second.verdict()).toEqual({ proof: 'ranges' });
      expect(members.size).toBe(index.members.size);
    }
  });
});
