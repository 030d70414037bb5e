import { expect } from 'vitest';
import { callMethod, type Row, row, send } from './row.ts';
import type { Target } from './target.ts';

const tenMiB = 10 * 1024 * 1024;
const source = 'practice';

/** Where the specification is silent: what this project's service does, which another server may do otherwise. */
export const practiceRows: readonly Row[] = [
  row(source, 'getAssets answers in the order asked, null for an id that matches nothing', async (target) => {
    const [first, second, absent] = [target.ids[0], target.ids[1] ?? target.ids[0], target.absentIds[0]];
    const { result } = await callMethod(target, 'getAssets', [[absent, second, first]]);
    expect((result as ({ id: string } | null)[]).map((record) => record?.id)).toEqual([undefined, second, first]);
  }),
  row(source, 'getAssets answers each of repeated ids', async (target) => {
    const { result } = await callMethod(target, 'getAssets', [[target.ids[0], target.ids[0]]]);
    expect(result).toHaveLength(2);
  }),
  row(source, 'getAssets of no ids is an empty array', async (target) => {
    expect((await callMethod(target, 'getAssets', [[]])).result).toEqual([]);
  }),
  row(source, 'getAssets answers 1000 ids and refuses 1001 as a whole', async (target) => {
    const ids = Array.from({ length: 1001 }, () => target.absentIds[0]);
    expect((await callMethod(target, 'getAssets', [ids.slice(1)])).result).toHaveLength(1000);
    expect((await callMethod(target, 'getAssets', [ids])).error).toMatchObject({ code: -32602 });
  }),
  row(source, 'getAsset of an unknown id is -32000 "Asset Not Found"', async (target) => {
    const { error } = await callMethod(target, 'getAsset', [target.absentIds[0]]);
    expect(error).toEqual({ code: -32000, message: 'Database Error: RecordNotFound Error: Asset Not Found' });
  }),
  row(source, 'a malformed key fails its whole call with -32000', async (target) => {
    const malformed = [
      '',
      'x',
      '0'.repeat(44),
      '1'.repeat(31),
      '1'.repeat(33),
      'z'.repeat(44),
      `${target.ids[0] ?? ''} `,
    ];
    for (const id of malformed) {
      const error = { code: -32000, message: `Pubkey Validation Err: ${id} is invalid` };
      expect((await callMethod(target, 'getAssets', [[target.ids[0], id]])).error).toEqual(error);
      expect((await callMethod(target, 'getAsset', [id])).error).toEqual(error);
    }
  }),
  row(source, 'wrong parameters are -32602', async (target) => {
    const [id] = target.ids;
    const wrong = [
      ['getAsset', []],
      ['getAsset', [1]],
      ['getAsset', [[id]]],
      ['getAsset', { id }],
      ['getAsset', [id, {}, {}]],
      ['getAssets', []],
      ['getAssets', [id]],
      ['getAssets', [[1]]],
      ['getAssets', { ids: [id] }],
      ['getAssets', [[id], 1]],
      ['getAsset', [id, { unknown: true }]],
      ['getAsset', [id, { showFungible: 1 }]],
      ['getAsset', [id, []]],
      ['getAssets', [[id], { showUnverifiedCollections: true }]],
      ['getAssets', undefined],
    ] as const;
    for (const [method, params] of wrong) {
      const { error } = await callMethod(target, method, params);
      expect(error?.code, `${method} ${JSON.stringify(params)}`).toBe(-32602);
    }
  }),
  row('JSON-RPC 2.0', 'an id is echoed by its type and value', async (target) => {
    for (const id of ['7', '"seven"', '""', 'null', '-1', '1.5', '9007199254740993', '"\\u00e9"']) {
      const { text } = await send(
        target,
        `{"jsonrpc":"2.0","id":${id},"method":"getAsset","params":["${target.ids[0] ?? ''}"]}`,
      );
      expect(
        text.slice(-12).includes(`"id":${id === '"\\u00e9"' ? '"é"' : id}}`) || text.endsWith(`"id":${id}}`),
        text.slice(-60),
      ).toBe(true);
    }
  }),
  row('JSON-RPC 2.0', 'text that is not JSON is -32700 with the id null', async (target) => {
    for (const body of ['', ' ', '{', '{"jsonrpc":"2.0",}', 'getAsset', '[1,', '\uFEFF{}', '{"id":1}x']) {
      expect(JSON.parse((await send(target, body)).text)).toMatchObject({ id: null, error: { code: -32700 } });
    }
  }),
  row('JSON-RPC 2.0', 'JSON that is no request is -32600', async (target) => {
    const call = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [target.ids[0]] };
    const misfits = [
      1,
      null,
      'x',
      [],
      {},
      { ...call, jsonrpc: '1.0' },
      { ...call, method: 1 },
      { ...call, params: 'x' },
      { ...call, id: {} },
    ];
    for (const misfit of misfits) {
      const answer = JSON.parse((await send(target, JSON.stringify(misfit))).text) as { error: { code: number } };
      expect(answer.error.code, JSON.stringify(misfit)).toBe(-32600);
    }
  }),
  row('JSON-RPC 2.0', 'an unknown method is -32601', async (target) => {
    for (const method of ['getasset', '', 'getAssetBatch', 'toString', '__proto__']) {
      expect((await callMethod(target, method, [])).error?.code).toBe(-32601);
    }
  }),
  row('JSON-RPC 2.0', 'a notification is not answered', async (target) => {
    const reply = await send(target, { jsonrpc: '2.0', method: 'getAsset', params: [target.ids[0]] });
    expect(reply.text).toBe('');
  }),
  row('JSON-RPC 2.0', 'a batch is answered member by member, but for notifications', async (target) => {
    const call = { jsonrpc: '2.0', method: 'getAsset', params: [target.ids[0]] };
    const batch = [{ ...call, id: 'a' }, call, 1, { ...call, id: 'b', method: 'no' }, { ...call, id: 'c' }];
    const answers = JSON.parse((await send(target, batch)).text) as { id: unknown }[];
    expect(answers.map(({ id }) => id)).toEqual(['a', null, 'b', 'c']);
    expect((await send(target, [call, call])).text).toBe('');
  }),
  {
    source,
    rule: 'each member of a batch is charged; what is refused before a look-up is free',
    check: async (target) => {
      const call = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [target.ids[0]] };
      const left = async (body: unknown) => (await send(target, body)).headers.get('x-credits-remaining');
      const before = await left(call);
      if (before === null) return 'not seen';
      expect(await left([call, { ...call, id: 2 }, { ...call, method: 'no' }])).toBe(String(Number(before) - 320));
      for (const body of ['{', { ...call, params: ['x'] }, { ...call, params: [] }, { ...call, method: 'no' }]) {
        expect(await left(body)).toBe(String(Number(before) - 320));
      }
      return 'kept';
    },
  },
  row(source, 'a notification has HTTP status 204', async (target) => {
    expect((await send(target, { jsonrpc: '2.0', method: 'getAsset', params: [target.ids[0]] })).status).toBe(204);
  }),
  row(source, 'a missing or other content type is 415', async (target) => {
    for (const contentType of ['', 'text/plain', 'application/jsonx']) {
      expect((await send(target, '{}', { contentType })).status).toBe(415);
    }
  }),
  row(source, 'errors of JSON-RPC come with HTTP 200', async (target) => {
    for (const body of ['{', '1', { jsonrpc: '2.0', id: 1, method: 'no' }])
      expect((await send(target, body)).status).toBe(200);
  }),
  row(source, 'a bad key is 401 as text', async (target) => {
    const reply = await send(target, '{}', { path: '/v3/certainly-not-a-key' });
    expect([reply.status, reply.text.trim()]).toEqual([401, 'invalid project id']);
    expect(reply.type).toMatch(/^text\/plain/);
  }),
  row(source, 'a request over 10 MiB is 413', async (target) => {
    expect((await send(target, ' '.repeat(tenMiB + 1))).status).toBe(413);
  }),
  row(source, 'other HTTP methods are 405, other paths 404', async (target) => {
    for (const method of ['GET', 'PUT', 'DELETE']) expect((await send(target, '', { method })).status).toBe(405);
    for (const path of ['/', '/v3/a/b', `/v2/${target.key}`, '/v3%2fkey'])
      expect((await send(target, '{}', { path })).status).toBe(404);
  }),
  row(source, 'GET /healthz says ready', async (target) => {
    const reply = await send(target, '', { method: 'GET', path: '/healthz' });
    expect([reply.status, reply.text]).toEqual([200, 'ready']);
  }),
  ownRow('numbers are served digit for digit', async (target) => {
    const { text } = await send(target, {
      jsonrpc: '2.0',
      id: 1,
      method: 'getAssets',
      params: [target.ids, { showFungible: true }],
    });
    expect(text).toContain('"supply":18446744073709551615');
    expect(text).toContain('"percent":0.030000000000000002');
  }),
  ownRow('collection metadata stands at grouping[].collection_metadata', async (target) => {
    const { result } = await callMethod(target, 'getAssets', [target.ids, { showCollectionMetadata: true }]);
    expect(result).toContainEqual(
      expect.objectContaining({ grouping: [expect.objectContaining({ collection_metadata: { name: 'Teapots' } })] }),
    );
  }),
  ownRow('an asset of an unverified collection is not found by getAsset without the flag', async (target) => {
    const answers = await Promise.all(target.ids.map((id) => callMethod(target, 'getAsset', [id])));
    expect(answers.filter(({ error }) => error?.message.includes('Asset Not Found'))).toHaveLength(1);
  }),
];

/** A rule that only the suite's own records can show. */
function ownRow(rule: string, check: (target: Target) => Promise<void>): Row {
  return {
    source,
    rule,
    check: async (target) => {
      if (!target.isOwn) return 'not seen';
      await check(target);
      return 'kept';
    },
  };
}
