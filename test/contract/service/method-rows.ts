import { expect } from 'vitest';
import { callMethod, type Row, recordsOf, row, send } from './row.ts';
import type { Target } from './target.ts';

/** What the specification says of the two methods, the address and the price. */
export const methodRows: readonly Row[] = [
  row('specification 1', 'getAsset returns one record for one id', async (target) => {
    const { result } = await callMethod(target, 'getAsset', [target.ids[0]]);
    expect(result).toMatchObject({ id: target.ids[0] });
  }),
  row('specification 1', 'getAssets returns an array of records for an array of ids', async (target) => {
    const ids = (await recordsOf(target)).map((record) => Reflect.get(record, 'id') as unknown);
    expect(new Set(ids)).toEqual(new Set(target.ids));
  }),
  row('specification 1', 'both methods change nothing: the same call has the same answer', async (target) => {
    expect(await recordsOf(target)).toEqual(await recordsOf(target));
  }),
  row('specification 4', 'answers hold jsonrpc "2.0", result and a number id, and no error', async (target) => {
    for (const [method, first] of [
      ['getAsset', target.ids[0]],
      ['getAssets', target.ids],
    ] as const) {
      const answer = await callMethod(target, method, [first]);
      expect(Object.keys(answer).sort()).toEqual(['id', 'jsonrpc', 'result']);
      expect([answer.jsonrpc, typeof answer.id]).toEqual(['2.0', 'number']);
    }
  }),
  row('specification 4', 'getAssets with ids alone takes params of one element', async (target) => {
    const { result } = await callMethod(target, 'getAssets', [[target.ids[0]]]);
    expect(result).toMatchObject([{ id: target.ids[0] }]);
  }),
  row(
    'specification 4',
    'getAsset: showFungible, showUnverifiedCollections, showCollectionMetadata are booleans of config',
    async (target) => {
      for (const flag of ['showFungible', 'showUnverifiedCollections', 'showCollectionMetadata']) {
        for (const value of [true, false]) {
          const { result } = await callMethod(target, 'getAsset', [target.ids[0], { [flag]: value }]);
          expect(result).toMatchObject({ id: target.ids[0] });
        }
      }
    },
  ),
  row(
    'specification 4',
    'getAssets: showFungible and showCollectionMetadata are booleans of config',
    async (target) => {
      for (const flag of ['showFungible', 'showCollectionMetadata']) {
        for (const value of [true, false])
          expect(await recordsOf(target, { [flag]: value })).toHaveLength(target.ids.length);
      }
    },
  ),
  flagRow('token_info is in a record of getAssets only with showFungible', 'getAssets', {
    flag: 'showFungible',
    isShown: (record) => 'token_info' in record,
  }),
  flagRow('token_info is in a record of getAsset only with showFungible', 'getAsset', {
    flag: 'showFungible',
    isShown: (record) => 'token_info' in record,
  }),
  flagRow('collection metadata is in a record of getAssets only with showCollectionMetadata', 'getAssets', {
    flag: 'showCollectionMetadata',
    isShown: (record) => JSON.stringify(record).includes('"collection_metadata":'),
  }),
  flagRow('collection metadata is in a record of getAsset only with showCollectionMetadata', 'getAsset', {
    flag: 'showCollectionMetadata',
    isShown: (record) => JSON.stringify(record).includes('"collection_metadata":'),
  }),
  {
    source: 'specification 4',
    rule: 'getAsset returns an asset from an unverified collection with showUnverifiedCollections',
    check: async (target) => {
      let seen = false;
      for (const id of target.ids) {
        const { result } = await callMethod(target, 'getAsset', [id, { showUnverifiedCollections: true }]);
        expect(result).toMatchObject({ id });
        if ((await callMethod(target, 'getAsset', [id])).error !== undefined) seen = true;
      }
      return seen ? 'kept' : 'not seen';
    },
  },
  row(
    'specification 5',
    'the key is the last segment of the path, and no other credential is wanted',
    async (target) => {
      const reply = await send(target, { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [target.ids[0]] });
      expect(reply.text).toContain('"result"');
      const path = '/v3/certainly-not-a-key';
      const refused = await send(
        target,
        { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [target.ids[0]] },
        { path },
      );
      expect([401, 403]).toContain(refused.status);
    },
  ),
  row('specification 5', 'a request must declare the JSON content type', async (target) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [target.ids[0]] };
    for (const contentType of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      expect((await send(target, body, { contentType })).status).toBeGreaterThanOrEqual(400);
    }
    expect((await send(target, body, { contentType: 'application/json; charset=utf-8' })).status).toBe(200);
  }),
  {
    source: 'specification 8',
    rule: 'a call of either method costs 160 credits of the balance, however many ids it asks for',
    check: async (target) => {
      const before = await balance(target, 'getAsset', target.ids[0]);
      if (before === undefined) return 'not seen';
      expect(await balance(target, 'getAssets', target.ids)).toBe(before - 160);
      expect(await balance(target, 'getAsset', target.ids[0])).toBe(before - 320);
      return 'kept';
    },
  },
  row('specification 9', 'the path has the segment v3', async (target) => {
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [target.ids[0]] };
    for (const version of ['v2', 'v4']) {
      expect((await send(target, body, { path: `/${version}/${target.key}` })).status).toBeGreaterThanOrEqual(400);
    }
  }),
];

/** What the key has left after a call, where the server says so. */
async function balance(target: Target, method: string, first: unknown): Promise<number | undefined> {
  const { headers } = await send(target, { jsonrpc: '2.0', id: 1, method, params: [first] });
  const left = headers.get('x-credits-remaining');
  return left === null ? undefined : Number(left);
}

function flagRow(
  rule: string,
  method: 'getAsset' | 'getAssets',
  { flag, isShown }: { flag: string; isShown: (record: object) => boolean },
): Row {
  const ask = async (target: Target, config: Readonly<Record<string, boolean>>): Promise<object[]> => {
    if (method === 'getAssets') return recordsOf(target, config);
    const answers = await Promise.all(target.ids.map((id) => callMethod(target, 'getAsset', [id, config])));
    return answers.flatMap(({ result }) => (typeof result === 'object' && result !== null ? [result] : []));
  };
  return {
    source: 'specification 4',
    rule,
    check: async (target) => {
      for (const config of [{}, { [flag]: false }]) expect((await ask(target, config)).some(isShown)).toBe(false);
      return (await ask(target, { [flag]: true })).some(isShown) ? 'kept' : 'not seen';
    },
  };
}
