import { describe, expect, it, onTestFinished } from 'vitest';
import type { ObjectStore } from '../../../src/places/objects/object-store.ts';
import { type BucketOfTests, type PageOfTests, usualWays } from './bucket-of-tests.ts';
import type { FaultyServer } from './faulty-server.ts';
import { allOf } from './object-contract.ts';

interface ListedStore {
  readonly name: string;
  readonly bucket: BucketOfTests;
  readonly server: FaultyServer;
  /** Opens a store with nothing in it. */
  readonly open: () => Promise<ObjectStore>;
  /** Whether its pages count their names, and say apart from the token that more follow. */
  readonly counts: boolean;
}

/** Bends the page with this number, or each; the first one is 1. */
type Bend = (page: PageOfTests, number: number, first: PageOfTests) => Partial<PageOfTests>;

export interface Way {
  readonly what: string;
  readonly bend: Bend;
  /** Else the listing is right. */
  readonly says?: string;
  /** The way can be told in pages that count their names alone. */
  readonly counted?: true;
}

export const listingWays: readonly Way[] = [
  {
    what: 'says that more follow, and not where',
    bend: () => ({ next: undefined }),
    says: 'page 1 is cut',
    counted: true,
  },
  {
    what: 'has fewer names than it counts',
    bend: ({ keys }) => ({ keys: keys.slice(1) }),
    says: 'page 1 is cut',
    counted: true,
  },
  {
    what: 'repeats the page before it for ever',
    bend: (_, n, first) => ({ ...first, next: `${first.next}${'0'.repeat(n)}` }),
    says: 'page 2 has no new name',
  },
  {
    what: 'leads back to a page before it',
    bend: (_, n, { next }) => (n === 2 ? { next } : {}),
    says: 'page 2 leads back',
  },
  {
    what: 'has no name, again and again',
    bend: ({ next }, n) => ({ keys: [], keyCount: 0, next: `${next}${n}` }),
    says: 'page 1 has no new name',
  },
  {
    what: 'has a name of another prefix',
    bend: ({ keys }, n) => (n === 2 ? { keys: ['elsewhere', ...keys], keyCount: 3 } : {}),
    says: 'page 2 has "elsewhere"',
  },
  {
    what: 'has no name once',
    bend: ({ keys: [key = ''] }, n) => (n === 3 ? { keys: [], keyCount: 0, next: key.replace(/.$/, 'c0') } : {}),
  },
  {
    what: 'repeats a name',
    bend: ({ keys }, n, { keys: [one = ''] }) => (n > 1 ? { keys: [one, ...keys], keyCount: keys.length + 1 } : {}),
  },
  { what: 'is turned', bend: ({ keys }) => ({ keys: [...keys].reverse() }) },
  { what: 'has an empty token at the end', bend: ({ next = '' }) => ({ next }) },
];

/** What a store in a network does about pages of a listing that cannot be right. */
export function describeListings({ name: storeName, bucket, server, open, counts }: ListedStore): void {
  const names = ['a/1', 'a/2', 'b', 'c', 'd', 'e', 'f'];
  const filled = async (): Promise<ObjectStore> => {
    const store = await open();
    bucket.put('elsewhere', Buffer.from('x'), undefined);
    for (const name of names) await store.putNew(name, { bytes: Buffer.from('x') });
    onTestFinished(() => void Object.assign(bucket.ways, usualWays));
    bucket.ways.pageSize = 2;
    return store;
  };
  const listed = (store: ObjectStore): Promise<string[]> =>
    allOf(store.list('')).then((all) => all.map(({ name }) => name));
  const folders = (store: ObjectStore): Promise<string[]> => allOf(store.names(''));

  describe(`listings of a store: ${storeName}`, () => {
    it.each(listingWays.filter(({ counted }) => counts || counted !== true))(
      'where a page $what',
      async ({ bend, says }) => {
        const store = await filled();
        for (const [read, right] of [
          [listed, names],
          [folders, ['a/', ...names.slice(2)]],
        ] as const) {
          let pages = 0;
          let first: PageOfTests | undefined;
          bucket.ways.bend = (page) => {
            first ??= page;
            return { ...page, ...bend(page, (pages += 1), first) };
          };
          const reading = read(store);
          if (says === undefined) expect((await reading).sort()).toEqual(right);
          else
            await expect(reading).rejects.toMatchObject({
              exit: 'unavailable',
              message: expect.stringMatching(`^\\w+://bucket.*${says}`) as string,
            });
          expect(pages).toBeLessThanOrEqual(names.length + 1);
        }
      },
    );

    it('where half of a page comes as if it were all', async () => {
      const store = await filled();
      server.faults.push({ operation: 'LIST', fault: 'half' });
      expect(await listed(store)).toEqual(names);
    });
  });
}
