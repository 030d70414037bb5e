import { describe, expect, onTestFinished, test } from 'vitest';
import {
  generatedId,
  generatedRecord,
  isMissing,
} from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { type GeneratedServiceOptions, startGeneratedService } from './generated-service.ts';
import { spawnGeneratedService } from './spawned-service.ts';

const ids = Array.from({ length: 200 }, (_, n) => generatedId(5, n));

async function start(options: GeneratedServiceOptions = {}) {
  const service = await startGeneratedService(options);
  onTestFinished(() => service.stop());
  return service;
}

async function post(url: string, body: string): Promise<string> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v3/some-key`, { method: 'POST', headers, body });
  expect(response.status).toBe(200);
  return response.text();
}

function ask(url: string, method: string, params: unknown): Promise<string> {
  return post(url, JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }));
}

interface Answer {
  readonly result: readonly ({ readonly id: string } | null)[];
}

async function idsAnswered(url: string, asked: readonly string[]): Promise<(string | null)[]> {
  const { result } = JSON.parse(await ask(url, 'getAssets', [asked])) as Answer;
  return result.map((record) => record?.id ?? null);
}

describe('the generated service', () => {
  test('answers getAssets with the generated record of each id, as text, in the order of the request', async () => {
    const { url } = await start();
    const expected = `{"jsonrpc":"2.0","result":[${ids.map(generatedRecord).join()}],"id":7}`;
    expect(await ask(url, 'getAssets', [ids])).toBe(expected);
    expect(await ask(url, 'getAssets', [ids])).toBe(expected);
  });

  test('answers getAsset with the record, or says that it is not found', async () => {
    const { url } = await start({ missingPercent: 50 });
    const found = ids.find((id) => !isMissing(id, 50)) ?? '';
    const missing = ids.find((id) => isMissing(id, 50)) ?? '';
    expect(await ask(url, 'getAsset', [found])).toBe(`{"jsonrpc":"2.0","result":${generatedRecord(found)},"id":7}`);
    expect(await ask(url, 'getAsset', [missing])).toContain('"code":-32000,"message":"Database Error: RecordNotFound');
  });

  test.each([['null'], ['omitted']] as const)('gives missing ids as %s', async (missingAs) => {
    const { url } = await start({ missingPercent: 20, missingAs });
    const expected = ids.map((id) => (isMissing(id, 20) ? null : id));
    const answered = await idsAnswered(url, ids);
    expect(answered).toEqual(missingAs === 'null' ? expected : expected.filter((id) => id !== null));
    expect(expected.filter((id) => id === null).length).toBeGreaterThan(20);
  });

  test('answers each id with one of the prepared records when it is told to, under its own id', async () => {
    const { url } = await start({ preparedRecords: 3, cacheBytes: 0 });
    const { result } = JSON.parse(await ask(url, 'getAssets', [ids])) as Answer;
    expect(result.map((record) => record?.id)).toEqual(ids);
    expect(new Set(result.map((record) => JSON.stringify({ ...record, id: '' }))).size).toBe(3);
  });

  test('shuffles and repeats records by seed, the same each time', async () => {
    const [one, same, other] = [
      await start({ shuffled: true, repeatedPercent: 10, seed: 1 }),
      await start({ shuffled: true, repeatedPercent: 10, seed: 1 }),
      await start({ shuffled: true, repeatedPercent: 10, seed: 2 }),
    ];
    const answered = await idsAnswered(one.url, ids);
    expect(new Set(answered)).toEqual(new Set(ids));
    expect(answered.length).toBeGreaterThan(ids.length);
    expect(answered.slice(0, 5)).not.toEqual(ids.slice(0, 5));
    expect(await idsAnswered(same.url, ids)).toEqual(answered);
    expect(await idsAnswered(other.url, ids)).not.toEqual(answered);
  });

  test('keeps calls waiting, each for its own time, so that answers overtake each other', async () => {
    const { url } = await start({ delayMs: 20, jitterMs: 200, seed: 3 });
    const order: number[] = [];
    const begun = performance.now();
    await Promise.all(
      Array.from({ length: 8 }, async (_, call) => {
        await idsAnswered(url, ids.slice(call, call + 1));
        expect(performance.now() - begun).toBeGreaterThanOrEqual(19);
        order.push(call);
      }),
    );
    expect(order).not.toEqual(order.toSorted((a, b) => a - b));
  });

  test('counts calls, ids, and how often each batch was asked and answered', async () => {
    const service = await start();
    await idsAnswered(service.url, ids.slice(0, 10));
    await idsAnswered(service.url, ids.slice(10, 13));
    await idsAnswered(service.url, ids.slice(0, 10));
    expect(service.counts()).toEqual({
      calls: 3,
      idsAsked: 23,
      batches: [
        { firstId: ids[0], ids: 10, asked: 2, answered: 2 },
        { firstId: ids[10], ids: 3, asked: 1, answered: 1 },
      ],
    });
    expect(await (await fetch(`${service.url}/counts`)).json()).toEqual(service.counts());
  });

  test('refuses what a real service would refuse, and lives on', async () => {
    const { url } = await start({ maxIds: 100 });
    expect(await ask(url, 'getAssets', [ids])).toContain('"code":-32602');
    expect(await ask(url, 'getAssets', [[ids[0], 'l0I']])).toContain('Pubkey Validation Err: l0I is invalid');
    expect(await ask(url, 'getAssets', ids)).toContain('"code":-32602');
    expect(await ask(url, 'getBlock', [1])).toContain('"code":-32602');
    expect(await post(url, '{"jsonrpc":')).toContain('"code":-32700');
    expect((await fetch(`${url}/v3/key`)).status).toBe(404);
    expect(await idsAnswered(url, ids.slice(0, 100))).toEqual(ids.slice(0, 100));
  });

  test('runs as a program of its own, with the same answers, until it is stopped', async () => {
    const service = await spawnGeneratedService(['--missing-percent', '10', '--missing-omitted']);
    try {
      expect(await idsAnswered(service.url, ids)).toEqual(ids.filter((id) => !isMissing(id, 10)));
      expect((await service.counts()).calls).toBe(1);
    } finally {
      await service.stop();
    }
    await expect(fetch(`${service.url}/counts`)).rejects.toThrow();
  });
});
