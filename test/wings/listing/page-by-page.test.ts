import { describe, expect, it } from 'vitest';
import { NumberedWalk } from '../../../src/wings/listing/walk/numbered-walk.ts';
import { TokenWalk } from '../../../src/wings/listing/walk/token-walk.ts';
import type { ListRequest, Walk } from '../../../src/wings/listing/walk/walk.ts';

const options = { limit: 100, concurrency: 8, total: 'none', totalCounts: undefined } as const;

/** Answers pages of so many members, one after another, and gives what was requested. */
function walked(walk: Walk, sizes: readonly number[], cursors: readonly string[] = [], total?: number): ListRequest[] {
  const asked: ListRequest[] = [];
  let page = 0;
  for (let [request] = walk.next(); request !== undefined; [request] = walk.next()) {
    expect(walk.next()).toEqual([]);
    asked.push(request);
    if (request.kind === 'total') walk.totalled(total);
    else {
      const keys = new Uint8Array(32 * (sizes[page] ?? 0)).fill(page + 1);
      walk.answered(request, { keys, direction: undefined, inErrors: 0, cursor: cursors[page] });
      page += 1;
    }
  }
  return asked;
}

describe('a walk by tokens', () => {
  it('asks by the token of the answer before, and is proven only where a source says so', () => {
    for (const endsByToken of [true, false]) {
      const walk = new TokenWalk({ ...options, endsByToken });
      const asked = walked(walk, [100, 0, 50], ['a', 'b']);
      expect(asked.map((each) => (each.kind === 'page' ? each.cursor : each.kind))).toEqual([undefined, 'a', 'b']);
      expect(walk.verdict().proof).toBe(endsByToken ? 'token' : 'none');
    }
  });

  it('ends at a token that does not change, which proves nothing', () => {
    const walk = new TokenWalk({ ...options, endsByToken: true });
    expect(walked(walk, [100, 100], ['a', 'a'])).toHaveLength(2);
    expect(walk.verdict().proof).toBe('none');
  });
});

describe('a walk by numbers', () => {
  it('asks for all pages of the total and one more, between two totals', () => {
    const counted = { ...options, total: 'alone' } as const;
    const walk = new NumberedWalk(counted, () => 210);
    const asked = walked(walk, [100, 80, 30, 0], [], 250);
    expect(asked.map((each) => (each.kind === 'page' ? each.number : each.kind))).toEqual([
      'total',
      1,
      2,
      3,
      4,
      'total',
    ]);
    expect(walk.verdict()).toEqual({ proof: 'pages' });
    const moved = new NumberedWalk(counted, () => 209);
    walked(moved, [100, 80, 30, 0], [], 250);
    expect(moved.verdict()).toMatchObject({ proof: 'none', why: expect.stringContaining('came twice') as string });
  });

  it('takes an empty page for the end where there is no total, which proves nothing', () => {
    const walk = new NumberedWalk(options, () => 150);
    expect(walked(walk, [100, 50])).toHaveLength(3);
    expect(walk.verdict().proof).toBe('none');
  });
});
