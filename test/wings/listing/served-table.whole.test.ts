import { describe, expect, it } from 'vitest';
import type { ListingDialect } from '../../../src/core/client/dialects.ts';
import { dialectNamed } from '../../../src/core/job/job-dialect.ts';
import { RangeWalk } from '../../../src/wings/listing/walk/range-walk.ts';
import type { Direction } from '../../../src/wings/listing/walk/keys.ts';
import { sampled } from '../../model/support/sample.ts';
import { runsAll } from '../../support/lane.ts';
import { tableMillions, type TableRow, tableRows } from '../../support/listing/list-table.ts';
import { CollectionStore, ServedLists } from '../../support/listing/served-lists.ts';
import { SimulatedIndex } from '../../support/listing/simulated-index.ts';
import { walked } from '../../support/listing/walked.ts';

/** Whether the order is asked for, or found out from the first page of two ids. */
const ways = [
  { name: 'rising ids', direction: 'rising', isAsked: true },
  { name: 'falling ids', direction: 'falling', isAsked: true },
  { name: 'falling ids that nobody announced', direction: 'falling', isAsked: false },
] as const;
type Way = (typeof ways)[number];

const { list: referenceLists, ...reference } = dialectNamed('reference');

function dialectOf({ direction, isAsked }: Way, total: 'none' | 'getGrouping'): ListingDialect {
  const sort = { sortBy: 'id', sortDirection: direction === 'rising' ? 'asc' : 'desc' } as const;
  return { ...reference, list: { ...referenceLists, total, sort: isAsked ? sort : undefined } };
}

/** The walk meets the same, whichever way the ids go. */
function windowOf({ window: [from, to] = [0, 1] }: TableRow, direction: Direction): readonly [number, number] {
  return direction === 'rising' ? [from, to] : [1 - to, 1 - from];
}

/** Stores by what their ids look like: rows of the table share them. */
const stores = new Map<string, CollectionStore>();

function storeOf({ rows, crowded }: TableRow, seed: number): CollectionStore {
  const name = JSON.stringify([rows, crowded, seed]);
  const known = stores.get(name);
  if (known !== undefined) return known;
  if (rows > 100_000) stores.clear();
  const store = new CollectionStore(
    new SimulatedIndex({ rows, seed, ...(crowded === undefined ? {} : { crowded }) }).members,
  );
  stores.set(name, store);
  return store;
}

/** One list. @returns pages, and whether it is proven */
async function list(row: TableRow, way: Way, { seed, concurrency, total }: ListOptions) {
  const store = storeOf(row, seed);
  const faults = [
    ...(row.dropped === undefined
      ? []
      : [{ fault: 'dropped', share: row.dropped, window: windowOf(row, way.direction) }]),
    ...(way.isAsked ? [] : [{ fault: 'direction', form: 'desc' }]),
  ];
  const lists = new ServedLists(store, dialectOf(way, total), { seed, faults });
  const walk = new RangeWalk({
    limit: 1000,
    concurrency,
    direction: way.isAsked ? way.direction : undefined,
    total: total === 'none' ? 'none' : 'alone',
    totalCounts: 'rows',
  });
  const { verdict, pages, totals, found } = await walked(walk, lists, seed);
  const isProven = verdict.proof !== 'none';
  expect(pages).toBeLessThanOrEqual(walk.counts.pages + walk.mostEmpty);
  expect(totals).toBeLessThanOrEqual(3);
  if (isProven && row.dropped === undefined) expect(found.size).toBe(row.rows);
  else if (isProven) expect(found.size).toBe(await shownBy(store, { seed, faults }));
  return { pages, isProven };
}

interface ListOptions {
  readonly seed: number;
  readonly concurrency: number;
  readonly total: 'none' | 'getGrouping';
}

/** How many members a service with these faults can show, by its own count. */
async function shownBy(
  store: CollectionStore,
  { seed, faults }: { readonly seed: number; readonly faults: readonly { readonly fault: string }[] },
): Promise<number> {
  const counting = { seed, faults: [...faults, { fault: 'total', of: 'shown' }] };
  const way = { name: 'rising ids', direction: 'rising', isAsked: true } as const;
  return new ServedLists(store, dialectOf(way, 'getGrouping'), counting).total();
}

/** @param mean of the calls at one page after another, where it is given */
async function check(row: TableRow, way: Way, seeds: number): Promise<void> {
  for (const total of ['none', 'getGrouping'] as const)
    for (const concurrency of [1, 8]) {
      let [pages, proven, most] = [0, 0, 0];
      for (let seed = 1; seed <= seeds; seed += 1) {
        const listed = await list(row, way, { seed, concurrency, total });
        pages += listed.pages;
        most = Math.max(most, listed.pages);
        proven += Number(listed.isProven);
      }
      const name = `${row.name}; ${way.name}; total ${total}; ${concurrency} at once`;
      if (runsAll)
        console.log(`${name}: ${(pages / seeds).toFixed(1)} pages, most ${most}; proven ${proven} of ${seeds}`);
      const mean = total === 'none' ? row.mean : (row.meanOfRows ?? row.mean);
      // With a total, a list that would end unproven goes on to a later ceiling: a few of them decide the mean.
      const isSteady = total === 'none' || proven === seeds;
      if (runsAll && concurrency === 1 && way.isAsked && isSteady && mean !== undefined)
        expect(Math.abs(pages / seeds / mean - 1), `${row.name}, ${total}`).toBeLessThan(0.15);
    }
}

/** Few rows in each way, and most of the members dropped in another way after each commit. */
function sampledRows(way: Way): readonly TableRow[] {
  const rows = tableRows.filter(({ rows, dropped }) => rows <= 1000 || dropped === 0.99).slice(0, 5);
  return rows.filter(({ dropped }) => dropped === undefined || sampled(ways, 3).includes(way));
}

const mostMs = 3_600_000;

describe('a list of the practice service', () => {
  for (const way of ways) {
    it.each(runsAll ? tableRows : sampledRows(way))(
      `loses nothing that is proven, within its ceiling: ${way.name}, $name`,
      (row) => check(row, way, runsAll ? 20 : 1),
      mostMs,
    );
    it.runIf(runsAll).each(tableMillions)(
      `loses nothing that is proven, within its ceiling: ${way.name}, $name`,
      (row) => check(row, way, 3),
      mostMs,
    );
  }
});
