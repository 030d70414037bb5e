import { describe, expect, it } from 'vitest';
import { TokenWalk, NumberedWalk } from '../../../src/wings/listing/open-walk.ts';
import type { ListRequest, Walk } from '../../../src/wings/listing/walk/walk.ts';

const options = { limit: 100, concurrency: 8, total: 'none', totalCounts: undefined } as const;

interface Answers {
  readonly cursors?: readonly string[];
  readonly total?: number;
  /** The pages end elsewhere when their ends are requested. */
  readonly isMoved?: boolean;
}

/** Answers pages of so many members, one after another and again by their place, and gives what was requested. */
function walked(
  walk: Walk,
  sizes: readonly number[],
  { cursors = [], total, isMoved = false }: Answers = {},
): ListRequest[] {
  const asked: ListRequest[] = [];
  const places = new Map<string, number>();
  for (let [request] = walk.next(); request !== undefined; [request] = walk.next()) {
    expect(walk.next()).toEqual([]);
    asked.push(request);
    if (request.kind === 'total') {
      walk.totalled(total);
      continue;
    }
    const { cursor, number = 0, limit } = request;
    const place = limit === undefined ? `${cursor ?? number}` : `${number / options.limit}`;
    const page = places.get(place) ?? places.size;
    places.set(place, page);
    const keys = keysOf(page, limit ?? sizes[page] ?? 0);
    const end = BigInt(page) + (isMoved && limit !== undefined ? 1n : 0n);
    walk.answered(request, { keys, direction: undefined, inErrors: 0, cursor: cursors[page], last: end });
  }
  return asked;
}

function keysOf(page: number, members: number): Uint8Array {
  const keys = new Uint8Array(32 * members);
  for (let at = 0; at < members; at += 1) keys.set([page + 1, at >> 8, at & 255], 32 * at);
  return keys;
}

function placesOf(asked: readonly ListRequest[]): unknown[] {
  return asked.map((each) => (each.kind === 'page' ? (each.cursor ?? each.number) : each.kind));
}

describe('a walk by tokens', () => {
  it('asks by the token of the answer before, and is proven only where a source says so', () => {
    for (const endsByToken of [true, false]) {
      const walk = new TokenWalk({ ...options, endsByToken });
      const asked = walked(walk, [100, 0, 50], { cursors: ['a', 'b'] });
      // The empty page once more: members follow it.
      expect(placesOf(asked)).toEqual([undefined, 'a', 'b', 'a']);
      expect(walk.verdict().proof).toBe(endsByToken ? 'token' : 'none');
    }
  });

  it('is not proven where the limit is spent before each empty page came again', () => {
    const walk = new TokenWalk({ ...options, endsByToken: true, proofCalls: 3 });
    expect(placesOf(walked(walk, [100, 0, 0, 50], { cursors: ['a', 'b', 'c'] }))).toEqual([
      undefined,
      'a',
      'b',
      'c',
      'a',
    ]);
    expect(walk.verdict()).toEqual({ proof: 'none', why: '1 page without members came only once', restCalls: 1 });
  });

  it('ends at a token that came before, one call later', () => {
    for (const cursors of [
      ['a', 'a'],
      ['a', 'b', 'a'],
    ]) {
      const walk = new TokenWalk({ ...options, endsByToken: true });
      expect(walked(walk, [100, 100, 100], { cursors })).toHaveLength(cursors.length + 1);
      expect(walk.circle).toBe('the token a came before');
    }
  });

  it('pays for 64 empty pages where no total says how long the list is, however many members come', () => {
    const walk = new TokenWalk({ ...options, endsByToken: true });
    // Four empty pages behind each full one.
    const sizes = Array.from({ length: 1000 }, (_, page) => (page % 5 === 0 ? 100 : 0));
    walked(walk, sizes, { cursors: sizes.map((_, page) => `token ${page}`) });
    expect(walk.counts).toMatchObject({ emptyPages: 64, pages: 16 });
    expect(walk.verdict().proof).toBe('none');
  });

  it('is the same walk when it is resumed', () => {
    const walk = new TokenWalk({ ...options, endsByToken: true });
    const page = (at: number, cursor?: string) => ({
      keys: keysOf(at, at === 1 ? 0 : 100),
      direction: undefined,
      inErrors: 0,
      cursor,
    });
    const request = (cursor?: string) => ({ kind: 'page', cursor, startsAtId: false, withTotal: false }) as const;
    walk.resume(request(), page(0, 'a'));
    walk.resume(request('a'), page(1, 'b'));
    walk.resume(request('b'), page(2));
    expect(placesOf(walk.next())).toEqual(['a']);
    walk.answered(request('a'), page(1, 'b'));
    expect(walk.next()).toEqual([]);
    expect(walk.verdict()).toEqual({ proof: 'token' });
  });
});

describe('a walk by numbers', () => {
  const counted = { ...options, total: 'alone' } as const;

  it('asks for all pages of the total and one more, between two totals, short pages again, and where full ones end', () => {
    const walk = new NumberedWalk(counted);
    const asked = walked(walk, [100, 80, 30, 0], { total: 250 });
    expect(placesOf(asked)).toEqual(['total', 1, 2, 3, 4, 'total', 3, 2, 100]);
    expect(asked.at(-1)).toMatchObject({ limit: 1 });
    expect(walk.verdict()).toEqual({ proof: 'pages' });
    expect(asked.length).toBeLessThanOrEqual(walk.planned);
  });

  it('is not proven where a page ends at another id when it was read', () => {
    const walk = new NumberedWalk(counted);
    walked(walk, [100, 100, 50, 0], { total: 250, isMoved: true });
    expect(walk.verdict()).toMatchObject({
      proof: 'none',
      why: expect.stringContaining('page 1 ends at another id') as string,
    });
  });

  it('requests whole pages where the service refuses a number of a small page', () => {
    const walk = new NumberedWalk(counted);
    const places: unknown[] = [];
    for (let [request] = walk.next(); request !== undefined; [request] = walk.next()) {
      places.push(...placesOf([request]));
      if (request.kind === 'total') walk.totalled(150);
      else if (request.limit !== undefined) walk.refused(request);
      else {
        const { number = 1 } = request;
        walk.answered(request, {
          keys: keysOf(number, [100, 50, 0][number - 1] ?? 0),
          direction: undefined,
          inErrors: 0,
          last: 1n,
        });
      }
    }
    expect(places).toEqual(['total', 1, 2, 3, 'total', 100, 1]);
    expect(walk.verdict()).toEqual({ proof: 'total' });
  });

  it('takes an empty page for the end where there is no total, which proves nothing', () => {
    const walk = new NumberedWalk(options);
    expect(walked(walk, [100, 50])).toHaveLength(3);
    expect(walk.verdict().proof).toBe('none');
  });
});
