import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { startService } from '../../src/practice-service.ts';
import { call, fileOf, idOf, post, serve } from './local-service.ts';

const [first, second, absent] = [idOf(1), idOf(2), idOf(3)];
const plain = `{"id":"${first}","supply":18446744073709551615,"x":1.0}`;
const token = `{"interface":"FungibleToken", "id":"${second}", "token_info":{"supply":9007199254740993}, "grouping":[{"group_key":"collection","collection_metadata":{"name":"ü"},"group_value":"c"}]}`;

describe('getAssets', () => {
  it('answers in the order asked, with null for what it does not know, and the texts as loaded', async () => {
    const service = await serve([plain, token]);
    const params = [[absent, second, first, second], { showFungible: true, showCollectionMetadata: true }];
    expect(await call(service, 'getAssets', params)).toBe(
      `{"jsonrpc":"2.0","result":[null,${token},${plain},${token}],"id":1}`,
    );
  });

  it('leaves token_info and collection_metadata out unless their flags are on', async () => {
    const service = await serve([token]);
    const bare = `{"interface":"FungibleToken", "id":"${second}", "grouping":[{"group_key":"collection","group_value":"c"}]}`;
    expect(await call(service, 'getAssets', [[second]])).toBe(`{"jsonrpc":"2.0","result":[${bare}],"id":1}`);
    expect(await call(service, 'getAssets', [[second], { showFungible: true }])).toContain('9007199254740993');
    expect(await call(service, 'getAssets', [[second], { showCollectionMetadata: true }])).toContain('"name":"ü"');
  });

  it('refuses a call of more ids than it takes, or with one that is no key, as a whole', async () => {
    const service = await serve([plain], { maxIds: 2 });
    expect(JSON.parse(await call(service, 'getAssets', [[first, second, absent]]))).toEqual({
      jsonrpc: '2.0',
      error: { code: -32602, message: 'Batch Size Error. Batch size should not be greater than 2.' },
      id: 1,
    });
    expect(JSON.parse(await call(service, 'getAssets', [[first, 'nonsense']]))).toMatchObject({
      error: { code: -32000, message: 'Pubkey Validation Err: nonsense is invalid' },
    });
    expect(service.counts()).toMatchObject({ calls: 0, credits: 0 });
  });

  it('refuses an answer over 10 MiB', async () => {
    const huge = [1, 2, 3].map((n) => `{"id":"${idOf(n)}","x":"${'a'.repeat(4_000_000)}"}`);
    const service = await serve(huge);
    expect(JSON.parse(await call(service, 'getAssets', [[first, second, absent]]))).toMatchObject({
      error: { code: -32008, message: 'Response is too big' },
    });
    expect((await call(service, 'getAssets', [[first, second]])).length).toBeGreaterThan(8_000_000);
  });
});

describe('getAsset', () => {
  it('answers one record, or that there is none', async () => {
    const service = await serve([plain]);
    expect(await call(service, 'getAsset', [first])).toBe(`{"jsonrpc":"2.0","result":${plain},"id":1}`);
    expect(JSON.parse(await call(service, 'getAsset', [absent]))).toMatchObject({
      error: { code: -32000, message: 'Database Error: RecordNotFound Error: Asset Not Found' },
    });
  });

  it('gives assets of unverified collections only with showUnverifiedCollections', async () => {
    const unverified = `{"id":"${first}","grouping":[{"group_key":"collection","group_value":"c","verified":false}]}`;
    const service = await serve([unverified]);
    expect(await call(service, 'getAsset', [first])).toContain('Asset Not Found');
    expect(await call(service, 'getAsset', [first, { showUnverifiedCollections: true }])).toContain(unverified);
    expect(await call(service, 'getAssets', [[first]])).toContain(unverified);
  });
});

describe('credits', () => {
  it('charges 160 a call and says what is left, then refuses with 402 for nothing', async () => {
    const service = await serve([plain], { creditsPerDay: 400 });
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [first] };
    expect((await post(service, body)).headers.get('x-credits-remaining')).toBe('240');
    expect((await post(service, body)).status).toBe(200);
    const refused = await post(service, body);
    expect(refused.status).toBe(402);
    expect(JSON.parse(refused.text)).toMatchObject({
      error: { code: 402, event: -33000, message: 'Payment Required' },
    });
    expect(refused.headers.get('x-credits-remaining')).toBe('80');
    expect((await post(service, body, 'another')).status).toBe(200);
    expect(service.counts()).toMatchObject({ exchanges: 4, calls: 3, ids: 3, credits: 480, refused: 1 });
  });

  it('gives a new balance at 00:00 UTC', async () => {
    let nowMs = Date.UTC(2026, 0, 31, 23, 59, 59);
    const service = await serve([plain], { creditsPerDay: 160, clock: { ...systemClock, now: () => nowMs } });
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [first] };
    expect([await post(service, body), await post(service, body)].map(({ status }) => status)).toEqual([200, 402]);
    nowMs += 1000;
    expect((await post(service, body)).status).toBe(200);
  });

  it('refuses with 429 what passes the credits of a second', async () => {
    let nowMs = 0;
    const service = await serve([plain], { creditsPerSecond: 320, clock: { ...systemClock, monotonic: () => nowMs } });
    const body = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [first] };
    const replies = [await post(service, body), await post(service, body), await post(service, body)];
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(JSON.parse(replies[2]?.text ?? '')).toMatchObject({ error: { code: 429, event: -33200 } });
    nowMs += 500;
    expect([await post(service, body), await post(service, body)].map(({ status }) => status)).toEqual([200, 429]);
  });
});

describe('the HTTP frame', () => {
  it('refuses an unknown key with 401 as text', async () => {
    const service = await serve([plain], { apiKeys: ['right'] });
    const reply = await post(service, '{}', 'wrong');
    expect([reply.status, reply.type, reply.text]).toEqual([401, 'text/plain; charset=utf-8', 'invalid project id']);
    expect((await post(service, '{}', 'right')).status).toBe(200);
  });

  it('refuses bodies over 10 MiB, other content types, methods and paths', async () => {
    const service = await serve([plain]);
    expect((await post(service, ' '.repeat(10 * 1024 * 1024 + 1))).status).toBe(413);
    expect((await post(service, ' '.repeat(10 * 1024 * 1024))).status).toBe(200);
    const url = `${service.url}/v3/key`;
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(415);
    expect((await fetch(url)).status).toBe(405);
    expect((await fetch(`${service.url}/else`)).status).toBe(404);
    expect((await fetch(`${service.url}/v3/%zz`, { method: 'POST' })).status).toBe(400);
    expect(await (await fetch(`${service.url}/healthz`)).text()).toBe('ready');
  });

  it('of localhost is reached at each address of that name', async () => {
    const service = await serve([plain], { host: 'localhost' });
    for (const { address, family } of await lookup('localhost', { all: true })) {
      const host = family === 6 ? `[${address}]` : address;
      expect(await (await fetch(`http://${host}:${new URL(service.url).port}/healthz`)).text()).toBe('ready');
    }
  });

  it('closes while a client keeps its connection open', async () => {
    const service = await startService({ assets: [fileOf([plain])], host: '127.0.0.1', port: 0, clock: systemClock });
    await call(service, 'getAsset', [first]);
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    onTestFinished(() => {
      socket.destroy();
    });
    await new Promise((resolve) => socket.once('connect', resolve));
    socket.write('POST /v3/key HTTP/1.1\r\nHost: x\r\n');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    await service.close();
    await closed;
  });

  it('drops a client that takes too long to send its request', async () => {
    const service = await serve([plain], { requestTimeoutMs: 100 });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const seen: string[] = [];
    socket.on('data', (data) => seen.push(data.toString()));
    socket.write('POST /v3/key HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{');
    await new Promise((resolve) => socket.once('close', resolve));
    expect(seen.join('')).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('drops a connection that stands still', async () => {
    const service = await serve([plain], { idleTimeoutMs: 100 });
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1').resume();
    await new Promise((resolve) => socket.once('close', resolve));
    expect(await call(service, 'getAsset', [first])).toContain(plain);
  });

  it('says so when the port is taken', async () => {
    const service = await serve([plain]);
    const port = Number(new URL(service.url).port);
    await expect(serve([plain], { port })).rejects.toThrow(`cannot listen on 127.0.0.1 port ${port}`);
  });
});
