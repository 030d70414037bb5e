import { describe, expect, it } from 'vitest';
import { keyAt } from '../../../src/wings/listing/walk/keys.ts';
import { SimulatedIndex } from '../../support/listing/simulated-index.ts';

/** The part of the members that a script loses which goes by `after`, and ends where the rule says. */
function lostPart(index: SimulatedIndex, isLast: (members: number, page: number) => boolean): number {
  let listed = 0;
  let after: bigint | undefined;
  for (let page = 1; ; page += 1) {
    const { keys } = index.page({ after });
    listed += keys.length / 32;
    if (keys.length > 0) after = keyAt(keys, keys.length - 32);
    if (isLast(keys.length / 32, page)) return 1 - listed / index.members.size;
  }
}

/** Rows that the service skips a page at a time: it has a token as long as it has rows, or as long as a page has members. */
function lostByToken(index: SimulatedIndex, rows: number, endsWithMembers: boolean): number {
  let listed = 0;
  for (let from = 0; from < rows; from += index.limit) {
    const members = index.rowsFrom(from);
    listed += members;
    if (endsWithMembers && members === 0) break;
  }
  return 1 - listed / index.members.size;
}

const seeds = [1, 2, 3, 4, 5];

function indices(dropped: number, rows = 25_000): SimulatedIndex[] {
  return seeds.map((seed) => new SimulatedIndex({ rows, seed, dropped }));
}

describe('the rules of public scripts lose members', () => {
  it('a page of fewer than the limit: at 0.1 % dropped every list is short', () => {
    const lost = indices(0.001).map((index) => lostPart(index, (members) => members < 1000));
    expect(lost.every((part) => part > 0)).toBe(true);
    expect(lost.reduce((sum, part) => sum + part) / lost.length).toBeGreaterThan(0.85);
  });

  it('page 100 is the last: of 250,000 members 60 % are lost', () => {
    const [index] = indices(0, 250_000);
    expect(index === undefined ? 0 : lostPart(index, (members, page) => page === 100 || members === 0)).toBeCloseTo(
      0.6,
      2,
    );
  });

  it('an empty page: at 99.9 % dropped every list is short', () => {
    const lost = indices(0.999).map((index) => lostPart(index, (members) => members === 0));
    expect(lost.every((part) => part > 0)).toBe(true);
    expect(lost.reduce((sum, part) => sum + part) / lost.length).toBeGreaterThan(0.7);
  });

  it('no token: where it depends on the members of a page, at 99.9 % dropped every list is short', () => {
    const lost = indices(0.999).map((index) => lostByToken(index, 25_000, true));
    expect(lost.every((part) => part > 0)).toBe(true);
    expect(indices(0.999).map((index) => lostByToken(index, 25_000, false))).toEqual([0, 0, 0, 0, 0]);
  });
});
