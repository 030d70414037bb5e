import { describe, expect, it, onTestFinished } from 'vitest';
import { type ListingDialect, serviceDialects } from '../../src/core/client/dialects.ts';
import { serviceAddress } from '../../src/core/client/wire/service-address.ts';
import { systemClock } from '../../src/lib/clock.ts';
import {
  type ListQuery,
  pageBody,
  type PagePlace,
  parsePage,
  parseTotal,
  totalBody,
} from '../../src/wings/listing/index.ts';
import { classify, type RunningService, type ServiceFaults } from '../../src/practice-service.ts';
import { checkFaults } from '../../packages/practice-service/src/faults/load-faults.ts';
import { serveAssets } from '../../packages/practice-service/src/start-service.ts';
import { idOfBytes, keyBytes } from '../../src/lib/ids/asset-id.ts';
import { memberAddresses, memberKeys, MemberStore } from '../support/service/member-store.ts';
import { idOf, serve, temporaryFolder } from './local-service.ts';

const [metamask, helius, alchemy, triton, reference] = serviceDialects as [
  ListingDialect,
  ListingDialect,
  ListingDialect,
  ListingDialect,
  ListingDialect,
];
const noFlags = { showFungible: false, showUnverifiedCollections: false, showCollectionMetadata: false };
const apiKey = 'key';

function query(filter: ListQuery['filter'], address: string, more: Partial<ListQuery> = {}): ListQuery {
  return { filter, address, onlyVerified: false, flags: noFlags, ...more };
}

async function send(service: RunningService, dialect: ListingDialect, body: Uint8Array): Promise<Buffer> {
  const key = dialect.path.includes('{key}') ? apiKey : '';
  const { origin, path } = serviceAddress({ url: service.url, apiKey: key, dialect });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: Buffer.from(body) });
  return Buffer.from(await response.arrayBuffer());
}

type Asked = PagePlace & { readonly withTotal?: boolean };

async function pageOf(service: RunningService, dialect: ListingDialect, asked: ListQuery, place: Asked = {}) {
  const { body } = pageBody(dialect, asked, { withTotal: false, ...place });
  const page = parsePage(await send(service, dialect, body), 1000, (text) => text);
  if (page.kind === 'error') throw new Error(`refused: ${page.error.words}`);
  return {
    ids: page.records.map(({ id }) => id),
    texts: page.records.map(({ record }) => Buffer.from(record).toString()),
    errors: page.errors.map(({ id }) => id),
    total: page.total,
    cursor: page.cursor,
  };
}

/** With pages of so many members. */
function withLimit(dialect: ListingDialect, limit: number, more: Partial<ListingDialect['list']> = {}): ListingDialect {
  return { ...dialect, list: { ...dialect.list, limit, ...more } };
}

const [one, two, three, four, burnt, spent] = [1, 2, 3, 4, 5, 6].map(idOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const [group, other, owner, maker, authority, tree] = [50, 51, 52, 53, 54, 55].map(idOf) as [
  string,
  string,
  string,
  string,
  string,
  string,
];
const grouping = (value: string, more = '') =>
  `"grouping":[{"group_key":"collection","group_value":"${value}"${more}}]`;
const records = [
  `{"id":"${three}","ownership":{"owner":"${owner}"},${grouping(group)},"creators":[{"address":"${maker}","verified":true}]}`,
  `{"id":"${one}",${grouping(group, ',"verified":true,"collection_metadata":{"name":"x"}')},"authorities":[{"address":"${authority}"}],"token_info":{"supply":1}}`,
  `{"id":"${four}",${grouping(other)},"compression":{"tree":"${tree}"},"creators":[{"address":"${maker}","verified":false},{"address":"${maker}","verified":false}]}`,
  `{"id":"${two}",${grouping(group, ',"verified":false')},"ownership":{"owner":"${owner}"}}`,
  `{"id":"${burnt}",${grouping(group)},"burnt":true}`,
  `{"id":"${spent}",${grouping(group)},"token_info":{"supply":0}}`,
];

describe.each(serviceDialects.filter(({ ignored }) => ignored.length > 0))('the options of $name', (dialect) => {
  it('that only add members change nothing, and others are refused', async () => {
    const service = await serve(records, { dialect });
    const { options, list, ignored } = dialect;
    const asks = async (body: object): Promise<unknown> => {
      const answer = await send(service, dialect, Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, ...body })));
      return JSON.parse(String(answer));
    };
    const added = Object.fromEntries(ignored.map((name) => [name, true]));
    const calls = [
      { method: dialect.one, params: { id: one } },
      { method: list.owner, params: { ownerAddress: owner } },
    ];
    for (const { method, params } of calls) {
      const bare = await asks({ method, params });
      expect(bare).toHaveProperty('result');
      expect(await asks({ method, params: { ...params, [options]: added } })).toEqual(bare);
      const other = await asks({ method, params: { ...params, [options]: { showOther: true } } });
      expect(other).toMatchObject({ error: { code: -32602 } });
    }
  });
});

describe('a list', () => {
  it.each(serviceDialects.map((dialect) => [dialect.name, dialect] as const))(
    'has the members of each filter in the order of ids, without burnt ones, under %s',
    async (_, dialect) => {
      const service = await serve(records, { dialect });
      const ids = async (asked: ListQuery) => (await pageOf(service, dialect, asked)).ids;
      expect(await ids(query('collection', group))).toEqual([one, three]);
      expect(await ids(query('owner', owner))).toEqual([two, three]);
      expect(await ids(query('creator', maker))).toEqual([three, four]);
      expect(await ids(query('creator', maker, { onlyVerified: true }))).toEqual([three]);
      expect(await ids(query('authority', authority))).toEqual([one]);
      expect(await ids(query('collection', idOf(99)))).toEqual([]);
      expect(service.counts()).toMatchObject({ calls: 6, credits: 6 * dialect.list.creditsPerPage, records: 8 });
    },
  );

  it('has what its flags show, and members of unverified collections with theirs', async () => {
    const service = await serve(records, { dialect: reference });
    const unverified = { ...noFlags, showUnverifiedCollections: true };
    expect((await pageOf(service, reference, query('collection', group, { flags: unverified }))).ids).toEqual([
      one,
      two,
      three,
    ]);
    const [bare] = (await pageOf(service, reference, query('authority', authority))).texts;
    expect(bare).not.toMatch(/token_info|collection_metadata/);
    const flags = { ...noFlags, showFungible: true, showCollectionMetadata: true };
    expect((await pageOf(service, reference, query('authority', authority, { flags }))).texts).toEqual([records[1]]);
  });

  it('is cut by before and after, by numbers, or by tokens', async () => {
    const dialect = withLimit(reference, 2, { collection: 'getAssetsByGroup' });
    const many = Array.from({ length: 5 }, (_, n) => `{"id":"${idOf(n)}",${grouping(group)}}`);
    const service = await serve(many, { dialect });
    const asked = query('collection', group);
    const ids = async (place: Asked, under = dialect) => (await pageOf(service, under, asked, place)).ids;
    expect(await ids({})).toEqual([idOf(0), idOf(1)]);
    expect(await ids({ after: idOf(1) })).toEqual([idOf(2), idOf(3)]);
    expect(await ids({ after: idOf(0), before: idOf(2) })).toEqual([idOf(1)]);
    expect(await ids({ before: idOf(1) })).toEqual([idOf(0)]);
    expect(await ids({ page: 3 })).toEqual([idOf(4)]);
    expect(await ids({ page: 4 })).toEqual([]);
    const byTokens = withLimit(dialect, 2, { next: 'cursor' });
    let { ids: listed, cursor } = await pageOf(service, byTokens, asked);
    while (cursor !== undefined) {
      const next = await pageOf(service, byTokens, asked, { cursor });
      listed = [...listed, ...next.ids];
      cursor = next.cursor;
    }
    expect(listed).toEqual([0, 1, 2, 3, 4].map(idOf));
  });

  it('of a service without a word for falling ids rises, and of the reference falls unless it is told', async () => {
    const asked = query('collection', group);
    const wordless = { ...reference, list: { ...reference.list, sort: undefined } };
    expect((await pageOf(await serve(records, { dialect: helius }), helius, asked)).ids).toEqual([one, three]);
    const falling = await serve(records, { dialect: reference });
    expect((await pageOf(falling, wordless, asked)).ids).toEqual([three, one]);
  });

  it('has its total where the dialect counts', async () => {
    const total = async (dialect: ListingDialect) =>
      (await pageOf(await serve(records, { dialect }), dialect, query('collection', group), { withTotal: true })).total;
    expect([await total(helius), await total(alchemy), await total(triton)]).toEqual([2, 2, undefined]);
    const service = await serve(records, { dialect: reference });
    const { body } = totalBody(reference, query('collection', group));
    // Burnt ones are counted too.
    expect(parseTotal(await send(service, reference, body))).toMatchObject({ total: 4 });
  });

  it.each([
    [{ limit: 1001 }, -32602, 'Limit should not be greater than 1000'],
    [{ limit: 0 }, -32602, 'limit must be a number'],
    [{ page: 0 }, -32602, 'Page must be a number'],
    [{ page: 1, after: one }, -32602, 'Only one pagination parameter'],
    [{ cursor: one, after: one }, -32602, 'Only one pagination parameter'],
    [{ cursor: 'x' }, -32000, 'Cursor Validation Err'],
    [{ after: 'x' }, -32000, 'Pubkey Validation Err: x is invalid'],
    [{ groupValue: 'x' }, -32000, 'Pubkey Validation Err: x is invalid'],
    [{ groupKey: 7 }, -32602, 'groupKey must be a string'],
    [{ sortBy: { sortBy: 'created' } }, -32602, 'only lists that are sorted by id'],
    [{ options: { showAll: true } }, -32602, 'unknown field "showAll" in config'],
    [{ sorted: true }, -32602, 'unknown field "sorted"'],
  ])('with %j is refused, and costs nothing', async (more, code, words) => {
    const service = await serve(records, { dialect: reference });
    const params = { groupKey: 'collection', groupValue: group, ...more };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssetsByGroup', params });
    const { error } = JSON.parse(String(await send(service, reference, Buffer.from(body)))) as { error: object };
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) as string });
    expect(service.counts()).toMatchObject({ calls: 0, credits: 0 });
  });

  it('is the same from records on disk, of which the last one of an id counts', async () => {
    const earlier = `{"id":"${one}","ownership":{"owner":"${owner}"}}`;
    const service = await serve([earlier, ...records], { dialect: helius, storeDir: temporaryFolder() });
    expect((await pageOf(service, helius, query('collection', group))).ids).toEqual([one, three]);
    expect((await pageOf(service, helius, query('owner', owner))).ids).toEqual([two, three]);
  });

  it('is that of today, where records change from day to day', async () => {
    const clock = { ...systemClock, now: () => nowMs };
    let nowMs = Date.parse('2026-11-20T12:00:00Z');
    const changes = { seed: 7, from: '2026-11-20', classes: [], share: 0, gone: 0.9, back: 0 };
    const service = await serve(records, { dialect: helius, clock, changes });
    expect((await pageOf(service, helius, query('owner', owner))).ids).toEqual([two, three]);
    nowMs += 9 * 86_400_000;
    expect((await pageOf(service, helius, query('owner', owner))).ids).toEqual([]);
  });

  it('is no method of the specification: without a dialect it is unknown', async () => {
    const service = await serve(records);
    const { body } = pageBody(metamask, query('owner', owner), { withTotal: false });
    expect(String(await send(service, metamask, body))).toContain('-32601');
  });

  it('costs the price of a page, beside calls of records at theirs', async () => {
    const service = await serve(records, {
      dialect: withLimit(helius, 1000, { creditsPerPage: 7 }),
      creditsPerCall: 10,
    });
    await pageOf(service, helius, query('owner', owner));
    const many = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssetBatch', params: { ids: [one] } });
    await send(service, helius, Buffer.from(many));
    expect(service.counts()).toMatchObject({ calls: 2, credits: 17 });
  });
});

const count = 5000;
const keys = memberKeys(count);
const members = Array.from({ length: count }, (_, row) => keys.subarray(row * keyBytes, (row + 1) * keyBytes))
  .sort((left, right) => Buffer.compare(left, right))
  .map((key) => idOfBytes(key));
const all = query('collection', memberAddresses.collection);

async function suffering(faults: ServiceFaults['faults'], dialect: ListingDialect): Promise<RunningService> {
  const options = { host: '127.0.0.1', port: 0, clock: systemClock, dialect, faults: checkFaults({ seed: 3, faults }) };
  const service = await serveAssets(new MemberStore(keys), options, { classify });
  onTestFinished(() => service.close());
  return service;
}

/** Everything that is listed by following the last row, whatever is shown of it. */
async function walk(service: RunningService, dialect: ListingDialect) {
  const listed = { ids: [] as string[], errors: [] as string[] };
  for (let at = 0; at < count; at += dialect.list.limit) {
    const place = at === 0 ? {} : { after: members[at - 1] };
    const { ids, errors } = await pageOf(service, dialect, all, place);
    listed.ids.push(...ids);
    listed.errors.push(...errors);
  }
  return listed;
}

describe('the fault', () => {
  it('dropped leaves out a share of the rows that a page takes, the same ones each time', async () => {
    const service = await suffering([{ fault: 'dropped', share: 0.9 }], helius);
    const { ids, errors } = await walk(service, helius);
    expect(ids.length).toBeGreaterThan(count * 0.08);
    expect(ids.length).toBeLessThan(count * 0.12);
    expect(errors).toEqual([]);
    expect((await walk(service, helius)).ids).toEqual(ids);
    expect((await walk(await suffering([{ fault: 'dropped', share: 0.9 }], helius), helius)).ids).toEqual(ids);
  });

  it('dropped of a window of the keys, or of these ids, leaves the others, and may show them as errors', async () => {
    const windowed = await suffering([{ fault: 'dropped', window: [0, 0.5], asErrors: true }], helius);
    const { ids, errors } = await walk(windowed, helius);
    expect([...errors, ...ids]).toEqual(members);
    expect(ids.length).toBeGreaterThan(count * 0.45);
    const named = await suffering([{ fault: 'dropped', ids: [members[1], members[7]] }], helius);
    expect((await walk(named, helius)).ids).toEqual(members.filter((_, at) => at !== 1 && at !== 7));
  });

  it('members lets some come and others leave as calls go by', async () => {
    const service = await suffering([{ fault: 'members', come: 3, leave: 2, calls: 2, most: 5 }], helius);
    const totals: (number | undefined)[] = [];
    for (let call = 0; call < 8; call += 1)
      totals.push((await pageOf(service, helius, all, { withTotal: true })).total);
    // Five are still to come at first; two steps bring them, and take away two and two.
    expect(totals).toEqual([4995, 4995, 4996, 4996, 4996, 4996, 4995, 4995]);
  });

  it('again repeats a page, or ignores the range', async () => {
    const repeating = await suffering([{ fault: 'again' }], helius);
    const first = await pageOf(repeating, helius, all);
    expect((await pageOf(repeating, helius, all, { after: first.ids.at(-1) })).ids).toEqual(first.ids);
    const ignoring = await suffering([{ fault: 'again', ignoreRange: true }], helius);
    expect((await pageOf(ignoring, helius, all, { after: members[4000] })).ids).toEqual(members.slice(0, 1000));
  });

  it('cursor makes tokens that say nothing, and that still lead on', async () => {
    const byTokens = withLimit(reference, 1000, { next: 'cursor' });
    const service = await suffering([{ fault: 'cursor', form: 'opaque' }], byTokens);
    const { cursor } = await pageOf(service, byTokens, all);
    expect(cursor).toMatch(/^next\./);
    expect((await pageOf(service, byTokens, all, { cursor })).ids).toEqual(members.slice(1000, 2000));
  });

  it('direction lets ids fall, by places and by tokens', async () => {
    const falling = members.toReversed();
    const service = await suffering([{ fault: 'direction', form: 'desc' }], helius);
    expect((await pageOf(service, helius, all)).ids).toEqual(falling.slice(0, 1000));
    expect((await pageOf(service, helius, all, { before: falling[999] })).ids).toEqual(falling.slice(1000, 2000));
    const byTokens = withLimit(reference, 1000, { next: 'cursor' });
    const tokens = await suffering([{ fault: 'direction', form: 'desc' }], byTokens);
    const { cursor } = await pageOf(tokens, byTokens, all);
    expect((await pageOf(tokens, byTokens, all, { cursor })).ids).toEqual(falling.slice(1000, 2000));
  });

  it('total counts rows, or what is shown, and may be off', async () => {
    const total = async (...faults: ServiceFaults['faults']) =>
      (await pageOf(await suffering(faults, helius), helius, all, { withTotal: true })).total;
    const half = { fault: 'dropped', window: [0, 0.5] };
    expect(await total(half)).toBe(count);
    const shown = (await walk(await suffering([half], helius), helius)).ids.length;
    expect(await total(half, { fault: 'total', of: 'shown' })).toBe(shown);
    expect(await total({ fault: 'total', off: -3 })).toBe(count - 3);
    const service = await suffering([half, { fault: 'total', of: 'shown', off: 1 }], reference);
    const { body } = totalBody(reference, all);
    expect(parseTotal(await send(service, reference, body))).toMatchObject({ total: shown + 1 });
  });

  it('pageLimit refuses the numbers above it', async () => {
    const service = await suffering([{ fault: 'pageLimit', pages: 2 }], helius);
    expect((await pageOf(service, helius, all, { page: 2 })).ids).toHaveLength(1000);
    await expect(pageOf(service, helius, all, { page: 3 })).rejects.toThrow('Page should not be greater than 2');
  });

  it('may be of list methods alone', async () => {
    const service = await suffering([{ fault: 'status', status: 503, when: { method: 'getAssetsByOwner' } }], helius);
    expect((await pageOf(service, helius, all)).ids).toHaveLength(1000);
    await expect(pageOf(service, helius, query('owner', memberAddresses.owner))).rejects.toThrow('malformed');
  });
});

describe('tokens of a service that sends them as long as it has rows', () => {
  it('lead over pages that show nothing, where those of the reference end', async () => {
    const dropped = [{ fault: 'dropped', window: [0, 0.5] }];
    const listed = async (ends: 'token' | undefined) => {
      const dialect = withLimit(reference, 1000, { next: 'cursor', ends });
      const service = await suffering(dropped, dialect);
      let page = await pageOf(service, dialect, all);
      const ids = [...page.ids];
      while (page.cursor !== undefined) {
        page = await pageOf(service, dialect, all, { cursor: page.cursor });
        ids.push(...page.ids);
      }
      return ids.length;
    };
    expect(await listed('token')).toBeGreaterThan(count * 0.45);
    expect(await listed(undefined)).toBe(0);
  });
});
