import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  type ListFilter,
  listFilters,
  type ListingDialect,
  serviceDialects,
} from '../../../../src/core/client/dialects.ts';
import { type ListQuery, pageBody, type PagePlace, totalBody, totalOf } from '../../../../src/wings/listing/index.ts';
import { seenRequest } from '../../../support/service/seen-request.ts';
import { generatedId } from '../../../../packages/practice-service/src/generated/generated-assets.ts';

const address = generatedId(41, 0);
const [low, high] = [generatedId(41, 1), generatedId(41, 2)];
const noFlags = { showFungible: false, showUnverifiedCollections: false, showCollectionMetadata: false };
const allFlags = { showFungible: true, showUnverifiedCollections: true, showCollectionMetadata: true };

function query(filter: ListFilter, more: Partial<ListQuery> = {}): ListQuery {
  return { filter, address, onlyVerified: false, flags: noFlags, ...more };
}

function text(dialect: ListingDialect, asked: ListQuery, place: PagePlace & { withTotal?: boolean } = {}): string {
  return Buffer.from(pageBody(dialect, asked, { withTotal: false, ...place }).body).toString();
}

/** Every request of a row: the first page of each filter, one between two places, all flags, and the total. */
function requestsOf(dialect: ListingDialect): string[] {
  const filters = listFilters.filter((filter) => dialect.list[filter] !== undefined);
  return [
    ...filters.map((filter) => text(dialect, query(filter))),
    text(dialect, query('collection'), { after: low, before: high }),
    text(dialect, query('creator', { onlyVerified: true }), { after: low }),
    text(dialect, query('collection', { flags: allFlags }), { before: high }),
    text(dialect, query('owner', { flags: allFlags }), { withTotal: true }),
    text(dialect, query('collection'), { page: 7 }),
    ...(totalOf(dialect, 'collection') === 'getGrouping'
      ? [Buffer.from(totalBody(dialect, query('collection')).body).toString()]
      : []),
  ];
}

const golden = fileURLToPath(new URL('../golden/requests.txt', import.meta.url));
const goldenWholes = fileURLToPath(new URL('../golden/whole-requests.txt', import.meta.url));

describe('the request of a list', () => {
  it('is this one in each dialect', async () => {
    const requests = serviceDialects.flatMap((dialect) => [`# ${dialect.name}`, ...requestsOf(dialect)]);
    await expect(`${requests.join('\n')}\n`).toMatchFileSnapshot(golden);
  });

  it('leaves for this target, with these headers and this body, in each dialect', async () => {
    const wholes: string[] = [];
    for (const dialect of serviceDialects)
      for (const filter of listFilters.filter((each) => dialect.list[each] !== undefined)) {
        const sent = pageBody(dialect, query(filter), { withTotal: false });
        const parse = () => ({ kind: 'page', responseId: undefined }) as const;
        const {
          url = '',
          headers,
          body,
        } = await seenRequest(dialect, async (wire) => wire.request?.({ ...sent, parse }));
        const { host = '', ...others } = headers;
        expect(host).toMatch(/^127\.0\.0\.1:\d+$/);
        const lines = Object.entries(others).map(([name, value]) => `${name}: ${String(value)}`);
        wholes.push([`# ${dialect.name}, ${filter}`, `POST ${url}`, ...lines.sort(), body].join('\n'));
      }
    await expect(`${wholes.join('\n')}\n`).toMatchFileSnapshot(goldenWholes);
  });

  const [metamask, helius, , , reference] = serviceDialects;
  if (metamask === undefined || helius === undefined || reference === undefined) throw new Error('no dialects');

  it('by tokens begins without a place, and has the token of the page before', () => {
    const byTokens = { ...reference, list: { ...reference.list, next: 'cursor' as const } };
    expect(text(byTokens, query('owner'))).not.toMatch(/"page"|"after"|"before"|"cursor"/);
    expect(text(byTokens, query('owner'), { cursor: 'abc' })).toContain('"limit":1000,"cursor":"abc"}');
  });

  it('of a tree is requested where a dialect has a method for it', () => {
    const withTree = { ...helius, list: { ...helius.list, tree: 'getAssetsByTree' } };
    expect(text(withTree, query('tree'))).toContain(`"method":"getAssetsByTree","params":{"tree":"${address}",`);
    expect(() => text(helius, query('tree'))).toThrow('no lists of tree in helius');
  });

  it('has the same JSON-RPC id when it is repeated, and another one for another page', () => {
    const first = pageBody(helius, query('owner'), { withTotal: false });
    expect(pageBody(helius, query('owner'), { withTotal: false }).id).toBe(first.id);
    expect(pageBody(helius, query('owner'), { withTotal: false, after: low }).id).not.toBe(first.id);
  });

  it('counts collections alone by getGrouping', () => {
    expect(totalOf(reference, 'collection')).toBe('getGrouping');
    expect(totalOf(reference, 'owner')).toBe('none');
    expect(totalOf(helius, 'owner')).toBe('showGrandTotal');
    expect(totalOf(metamask, 'collection')).toBe('none');
  });
});
