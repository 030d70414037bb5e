import { describe, expect, it } from 'vitest';
import { Brake } from '../../../src/core/client/policies/brake.ts';
import { listPages, type PagesToList } from '../../../src/wings/listing/list-pages.ts';
import { TokenWalk } from '../../../src/wings/listing/open-walk.ts';
import type { Walk } from '../../../src/wings/listing/walk/walk.ts';

/** The totals that a walk is told by a service that refuses so many requests of it. */
async function totalsAfter(refusals: number): Promise<{ readonly calls: number; readonly totals: readonly number[] }> {
  const options = { limit: 100, concurrency: 1, total: 'alone', totalCounts: undefined } as const;
  const walk: Walk = new TokenWalk({ ...options, endsByToken: true });
  let calls = 0;
  const request = async (_: unknown, keep: (answer: unknown) => Promise<void>): Promise<unknown> => {
    calls += 1;
    if (calls <= refusals) return { kind: 'refused', why: 'id', message: 'no', doubtful: false };
    const answer = { kind: 'total', total: 0 };
    await keep(answer);
    return answer;
  };
  let isAsked = false;
  const listing = {
    walk: {
      counts: walk.counts,
      planned: 3,
      mostEmpty: 64,
      next: () => {
        const requests = isAsked ? [] : walk.next();
        isAsked = true;
        return requests;
      },
      totalled: (total: number | undefined) => {
        walk.totalled(total);
      },
    },
    dialect: { params: 'named', list: { total: 'getGrouping', limit: 100 } },
    query: { filter: 'collection', address: 'a' },
    client: { request },
    journal: { keepTotal: () => Promise.resolve() },
    brake: new Brake({ overrun: undefined }),
    clock: { now: () => 0 },
    stop: new AbortController().signal,
    onAnswer: () => undefined,
  };
  await listPages(listing as unknown as PagesToList);
  return { calls, totals: walk.counts.totals };
}

describe('the total of a list', () => {
  it('is requested once more where it is refused: one refusal may be one server of several', async () => {
    expect(await totalsAfter(0)).toEqual({ calls: 1, totals: [0] });
    expect(await totalsAfter(1)).toEqual({ calls: 2, totals: [0] });
    expect(await totalsAfter(2)).toEqual({ calls: 2, totals: [] });
  });
});
