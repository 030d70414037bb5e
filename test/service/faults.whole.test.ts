import { request } from 'node:http';
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/lib/clock.ts';
import { type FaultsInput, faultsSchema } from '../../packages/practice-service/src/faults/fault-schema.ts';
import type { RunningService, ServiceOptions } from '../../src/practice-service.ts';
import { call, idOf, post, type Reply, serve } from './local-service.ts';

const ids = Array.from({ length: 20 }, (_, n) => idOf(n));
const records = ids.map((id, n) => `{"id":"${id}","name":"é ${n}"}`);
const ask = (asked: readonly string[] = ids): unknown => ({
  jsonrpc: '2.0',
  id: 5,
  method: 'getAssets',
  params: [asked],
});
const whole = `{"jsonrpc":"2.0","result":[${records.join(',')}],"id":5}`;

function suffer(faults: FaultsInput['faults'], options: Partial<ServiceOptions> = {}): Promise<RunningService> {
  return serve(records, { faults: faultsSchema.parse({ seed: 3, faults }), ...options });
}

async function idsOf(reply: Reply): Promise<unknown[]> {
  const { result } = JSON.parse(reply.text) as { result: ({ id?: string } | null)[] };
  return result.map((record) => record?.id);
}

/** What the socket brings, and how the connection ends. */
function rawExchange(
  service: RunningService,
  untilBytes = Number.POSITIVE_INFINITY,
): Promise<{ text: string; end: string }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    const pieces: Buffer[] = [];
    const finish = (end: string) => {
      socket.destroy();
      resolve({ text: Buffer.concat(pieces).toString(), end });
    };
    socket.on('data', (piece) => {
      pieces.push(piece);
      if (Buffer.concat(pieces).length >= untilBytes) setTimeout(finish, 50, 'open');
    });
    socket.once('end', () => {
      finish('closed');
    });
    socket.once('error', () => {
      finish('reset');
    });
    const body = JSON.stringify(ask());
    socket.write(
      `POST /v3/key HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  });
}

describe('faults before an answer', () => {
  it('answers a status with and without Retry-After, for no credits', async () => {
    const clock = { ...systemClock, now: () => 0 };
    const service = await suffer(
      [
        { fault: 'status', status: 503, when: { first: 1 } },
        { fault: 'status', status: 429, body: 'json', retryAfter: 7, when: { first: 2 } },
        { fault: 'status', status: 500, body: 'empty', retryAfterDateS: 86_400, when: { first: 3 } },
        { fault: 'status', status: 502, body: 'text', charged: 5, when: { first: 4 } },
      ],
      { clock },
    );
    const replies: Reply[] = [];
    for (let n = 0; n < 5; n += 1) replies.push(await post(service, ask()));
    expect(replies.map(({ status }) => status)).toEqual([503, 429, 500, 502, 200]);
    expect(replies.map(({ headers }) => headers.get('retry-after'))).toEqual([
      null,
      '7',
      'Fri, 02 Jan 1970 00:00:00 GMT',
      null,
      null,
    ]);
    expect(replies[0]?.text).toContain('<html>');
    expect(service.counts()).toMatchObject({ exchanges: 5, calls: 2, credits: 165, faulted: 4 });
  });

  it.each([
    ['day', 402, '-33000'],
    ['dayOlder', 429, 'daily request count exceeded'],
    ['second', 429, '-33200'],
    ['secondOlder', 429, '"backoff_seconds":30'],
    ['key', 429, '-33300'],
    ['rate', 429, '-32029'],
    ['badKey', 401, 'invalid project id'],
    ['disabledKey', 401, 'account disabled'],
    ['forbiddenKey', 403, '-32002'],
    ['missingKey', 403, '-32600'],
  ] as const)('refuses in the form "%s"', async (form, status, words) => {
    const service = await suffer([{ fault: 'refusal', form, when: { after: 1 } }]);
    expect((await post(service, ask())).text).toBe(whole);
    const reply = await post(service, ask());
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(words);
    expect(service.counts().calls).toBe(1);
  });

  it('redirects', async () => {
    const service = await suffer([{ fault: 'redirect', status: 308, location: '/v3/elsewhere' }]);
    const reply = await post(service, ask());
    expect([reply.status, reply.headers.get('location')]).toEqual([308, '/v3/elsewhere']);
  });

  it('waits by its clock: latency and jitter alike for the same batch and seed', async () => {
    const sleeps: number[] = [];
    const clock = {
      ...systemClock,
      sleep: async (ms: number) => {
        sleeps.push(ms);
      },
    };
    for (let n = 0; n < 2; n += 1) {
      const service = await suffer([{ fault: 'latency', ms: 100, jitterMs: 50 }], { clock });
      expect((await post(service, ask())).text).toBe(whole);
    }
    expect(sleeps[0]).toBeGreaterThan(100);
    expect(sleeps[0]).toBeLessThan(150);
    expect(sleeps[1]).toBe(sleeps[0]);
  });
});

describe('faults of the connection', () => {
  it('resets before the first byte and within the body', async () => {
    const service = await suffer([
      { fault: 'reset', when: { first: 1 } },
      { fault: 'reset', afterBytes: 60, when: { first: 2 } },
      { fault: 'reset', afterShare: 0.5, clean: true, when: { first: 3 } },
    ]);
    expect(await rawExchange(service)).toEqual({ text: '', end: 'reset' });
    const within = await rawExchange(service);
    expect(within.text).toMatch(new RegExp(`content-length: ${Buffer.byteLength(whole)}\r\n`, 'i'));
    expect(within.end).toBe('reset');
    const closed = await rawExchange(service);
    expect(
      closed.text.endsWith(
        Buffer.from(whole)
          .subarray(0, Math.floor(Buffer.byteLength(whole) / 2))
          .toString(),
      ),
    ).toBe(true);
    expect(closed.end).toBe('closed');
    expect(service.counts().calls).toBe(3);
  });

  it('hangs within the body until the client goes away', async () => {
    const service = await suffer([{ fault: 'hang', afterBytes: 10 }]);
    const { text, end } = await rawExchange(service, 100);
    expect(end).toBe('open');
    expect(text.endsWith(`\r\n\r\n${whole.slice(0, 10)}`)).toBe(true);
  });

  it('drips: so many bytes at a time', async () => {
    let sleeps = 0;
    const clock = {
      ...systemClock,
      sleep: async () => {
        sleeps += 1;
      },
    };
    const service = await suffer([{ fault: 'drip', bytes: 100, everyMs: 1000 }], { clock });
    expect((await post(service, ask())).text).toBe(whole);
    expect(sleeps).toBe(Math.ceil(Buffer.byteLength(whole) / 100) - 1);
  });

  it('floods: more bytes than anyone asked for', async () => {
    const service = await suffer([{ fault: 'flood', bytes: 3_000_000 }]);
    expect((await post(service, ask())).text).toBe(' '.repeat(3_000_000) + whole);
  });

  it('ends while a client hangs', async () => {
    const service = await suffer([{ fault: 'hang' }]);
    const hanging = rawExchange(service);
    while (service.counts().faulted === 0) await new Promise((resolve) => setImmediate(resolve));
    await service.close();
    expect((await hanging).text).toBe('');
  });
});

describe('faults of the body', () => {
  it('cuts the JSON at any byte', async () => {
    for (const afterBytes of [0, 1, 77]) {
      const service = await suffer([{ fault: 'cut', afterBytes }]);
      expect((await post(service, ask())).text).toBe(whole.slice(0, afterBytes));
    }
    const service = await suffer([{ fault: 'cut', afterShare: 1 }]);
    expect((await post(service, ask())).text).toBe(whole.slice(0, -1));
  });

  it('breaks the JSON, sends HTML, other content types, any text', async () => {
    const service = await suffer([
      { fault: 'html', when: { first: 1 } },
      { fault: 'contentType', value: 'text/plain', when: { first: 1, probability: 0 } },
      { fault: 'contentType', value: 'text/plain', when: { first: 2 } },
      { fault: 'body', text: '[1]', status: 201, when: { first: 3, after: 2 } },
      { fault: 'malformed', when: { after: 3 } },
    ]);
    const html = await post(service, ask());
    expect([html.status, html.text.slice(0, 6)]).toEqual([200, '<html>']);
    expect(await post(service, ask())).toMatchObject({ type: 'text/plain', text: whole });
    expect(await post(service, ask())).toMatchObject({ status: 201, text: '[1]' });
    const broken = new Set<string>();
    for (let n = 0; n < 30; n += 1) {
      const { text } = await post(service, ask());
      expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
      broken.add(text);
    }
    expect(broken.size).toBeGreaterThan(20);
  });

  it('sends gzip, cut gzip and gzip bombs', async () => {
    const zipped = await suffer([{ fault: 'gzip' }]);
    const reply = await post(zipped, ask());
    expect([reply.headers.get('content-encoding'), reply.text]).toEqual(['gzip', whole]);
    const bomb = await suffer([{ fault: 'gzipBomb', bytes: 50_000_000 }]);
    expect((await rawBody(bomb)).length).toBeLessThan(100_000);
    expect(gunzipSync(await rawBody(bomb)).length).toBeGreaterThanOrEqual(50_000_000);
    const cut = await suffer([{ fault: 'gzip', cut: true }]);
    const bytes = await rawBody(cut);
    expect(() => gunzipSync(bytes)).toThrow('unexpected end of file');
  });

  it.each([
    ['both', /^\{"error":\{"code":-32603.*"result":\[/],
    ['neither', /^\{"jsonrpc":"2.0","id":1\}$/],
    ['bare', /^\[\{"id":.*\}\]$/],
    ['wrapped', /^\[\{"jsonrpc".*\}\]$/],
    ['nullResult', /"result":null/],
    ['objectResult', /"result":\{\}/],
    ['textResult', /"result":"ok"/],
  ] as const)('wraps the result in the form "%s", which is still JSON', async (form, shape) => {
    const service = await suffer([{ fault: 'envelope', form }]);
    const { text } = await post(service, ask());
    expect(text).toMatch(shape);
    expect(() => JSON.parse(text) as unknown).not.toThrow();
  });

  it.each([null, 0, '5', { a: [1] }])('answers with the id %j', async (id) => {
    const service = await suffer([{ fault: 'responseId', id }]);
    expect(JSON.parse((await post(service, ask())).text)).toMatchObject({ id });
  });
});

function rawBody(service: RunningService): Promise<Buffer> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const sent = request(`${service.url}/v3/key`, { method: 'POST', headers }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('end', () => {
        resolve(Buffer.concat(pieces));
      });
    });
    sent.end(JSON.stringify(ask()));
  });
}

describe('faults of the records', () => {
  it('fails a call that asks for a poisonous id, whichever else it asks for', async () => {
    const poison = ids[7] ?? '';
    const service = await suffer([
      { fault: 'poison', ids: [poison] },
      { fault: 'poison', ids: [ids[8] ?? ''], code: -32602, message: 'no {id}', charged: false },
    ]);
    expect(await call(service, 'getAssets', [ids])).toContain(`Pubkey Validation Err: ${poison} is invalid`);
    expect(await call(service, 'getAsset', [poison])).toContain('-32000');
    expect(service.counts().calls).toBe(2);
    expect(await call(service, 'getAsset', [ids[8]])).toContain(`"code":-32602,"message":"no ${ids[8] ?? ''}"`);
    expect(await call(service, 'getAssets', [ids.slice(9)])).toContain('"result":[{');
    expect(service.counts().calls).toBe(3);
  });

  it.each([
    ['invalidParams', 200, '"code":-32602,"message":"Batch Size Error. Batch size should not be greater than 10."'],
    ['execution', 200, '"code":-32000'],
    ['http413', 413, '-32007'],
    ['responseTooBig', 200, '-32008'],
    ['responseTooBigOlder', 200, '-32702'],
  ] as const)('lowers its cap after some calls, in the form "%s"', async (form, status, words) => {
    const service = await suffer([{ fault: 'cap', maxIds: 10, form, when: { after: 1 } }]);
    expect((await post(service, ask())).text).toBe(whole);
    const reply = await post(service, ask());
    expect(reply.status).toBe(status);
    expect(reply.text).toContain(words);
    expect((await post(service, ask(ids.slice(10)))).text).toContain('"result"');
    expect(service.counts().calls).toBe(2);
  });

  it.each([
    ['null', [ids[0], undefined, undefined, ids[3]]],
    ['omitted', [ids[0], ids[3]]],
    ['object', [ids[0], undefined, undefined, ids[3]]],
  ] as const)('marks what is missing as "%s"', async (as, expected) => {
    const service = await suffer([{ fault: 'missing', as, ids: [ids[1] ?? ''] }]);
    const reply = await post(service, ask([ids[0] ?? '', ids[1] ?? '', idOf(999), ids[3] ?? '']));
    expect(await idsOf(reply)).toEqual(expected);
    if (as === 'object') expect(reply.text).toContain('{}');
  });

  it('fails a whole call for what is missing, when told to', async () => {
    const service = await suffer([{ fault: 'missing', as: 'error' }]);
    expect((await post(service, ask())).text).toBe(whole);
    expect((await post(service, ask([idOf(999)]))).text).toContain('-32004');
    const as404 = await suffer([{ fault: 'missing', as: 'error', status: 404 }]);
    expect(await post(as404, ask([idOf(999)]))).toMatchObject({
      status: 404,
      text: expect.stringContaining('"code":-32004') as string,
    });
    expect((await post(as404, ask())).status).toBe(200);
  });

  it('forgets a share of ids, the same ones whoever asks; or at random when forgetful', async () => {
    const missing = async (service: RunningService, asked: readonly string[]) => {
      const found = new Set(await idsOf(await post(service, ask(asked))));
      return asked.filter((id) => !found.has(id));
    };
    const steady = await suffer([{ fault: 'missing', share: 0.5 }]);
    const forgotten = await missing(steady, ids);
    expect(forgotten.length).toBeGreaterThan(3);
    expect(forgotten.length).toBeLessThan(17);
    expect(await missing(steady, ids)).toEqual(forgotten);
    expect((await missing(steady, ids.slice(5))).every((id) => forgotten.includes(id))).toBe(true);
    const forgetful = await suffer([{ fault: 'missing', share: 0.5, forgetful: true }]);
    expect(await missing(forgetful, ids)).not.toEqual(await missing(forgetful, ids));
  });

  it('hides assets of unverified collections from getAssets, when told to', async () => {
    const id = idOf(50);
    const record = `{"id":"${id}","grouping":[{"group_key":"collection","group_value":"c","verified":false}]}`;
    const faults = faultsSchema.parse({ faults: [{ fault: 'missing', unverified: true }] });
    const service = await serve([record], { faults });
    expect(await call(service, 'getAssets', [[id]])).toContain('[null]');
    expect(await call(service, 'getAsset', [id, { showUnverifiedCollections: true }])).toContain(record);
  });

  it('shuffles and repeats records, alike for the same batch, seed and attempt', async () => {
    const texts: string[] = [];
    for (let n = 0; n < 2; n += 1) {
      const service = await suffer([{ fault: 'shuffled' }, { fault: 'repeated', share: 0.3 }]);
      texts.push((await post(service, ask())).text, (await post(service, ask())).text);
    }
    expect(texts[2]).toBe(texts[0]);
    expect(texts[3]).toBe(texts[1]);
    expect(texts[1]).not.toBe(texts[0]);
    const { result } = JSON.parse(texts[0] ?? '') as { result: { id: string }[] };
    expect(result.length).toBeGreaterThan(20);
    expect(new Set(result.map(({ id }) => id))).toEqual(new Set(ids));
  });

  it('words errors as other servers do', async () => {
    const older = await suffer([{ fault: 'notFound' }, { fault: 'malformedKey' }]);
    expect(await call(older, 'getAsset', [idOf(999)])).toContain(
      '"Database Error RecordNotFound Error: Asset Not Found"',
    );
    expect(await call(older, 'getAssets', [['x']])).toContain(
      '"code":-32602,"message":"Invalid params: invalid public key"',
    );
    expect((await post(older, ask())).text).toBe(whole);
    const other = await suffer([{ fault: 'error', code: -32603, message: 'no', status: 404, charged: 5 }]);
    const reply = await post(other, ask());
    expect([reply.status, reply.text]).toEqual([
      404,
      '{"jsonrpc":"2.0","error":{"code":-32603,"message":"no"},"id":5}',
    ]);
    expect(other.counts()).toMatchObject({ calls: 1, credits: 5 });
  });

  it('answers repeated neighbours once, when told to', async () => {
    const service = await suffer([{ fault: 'dropRepeats' }]);
    const [one = '', two = ''] = ids;
    expect(await idsOf(await post(service, ask([one, one, two, one])))).toEqual([one, two, one]);
  });

  it('adds records that nobody asked for, and records without an id', async () => {
    const foreign = await suffer([{ fault: 'foreign', count: 2 }]);
    const found = await idsOf(await post(foreign, ask()));
    expect(found).toHaveLength(22);
    expect(found.filter((id) => !ids.includes(String(id)))).toHaveLength(2);
    const idless = await suffer([{ fault: 'idless', count: 3 }]);
    const all = await idsOf(await post(idless, ask()));
    expect(all.filter((id) => id !== undefined)).toEqual(ids);
    expect(all).toHaveLength(23);
    const instead = await suffer([{ fault: 'idless', count: 3, instead: true }]);
    expect((await idsOf(await post(instead, ask()))).filter((id) => id === undefined)).toHaveLength(3);
  });
});

describe('when a fault applies', () => {
  const statuses = async (service: RunningService, asks: readonly unknown[]) => {
    const seen: number[] = [];
    for (const body of asks) seen.push((await post(service, body)).status);
    return seen;
  };
  const [one, two] = [ask(ids.slice(0, 3)), ask(ids.slice(3, 6))];

  it('is the first attempts of each batch', async () => {
    const service = await suffer([{ fault: 'status', status: 500, when: { attempts: 1 } }]);
    expect(await statuses(service, [one, two, one, two])).toEqual([500, 500, 200, 200]);
  });

  it('is each so-many-th call, or calls of a method, of a size, for an id', async () => {
    const service = await suffer([
      { fault: 'status', status: 501, when: { every: 4 } },
      { fault: 'status', status: 503, when: { minIds: 20 } },
      { fault: 'status', status: 502, when: { ids: [ids[4] ?? ''] } },
      { fault: 'status', status: 504, when: { method: 'getAsset' } },
    ]);
    const single = { jsonrpc: '2.0', id: 1, method: 'getAsset', params: [ids[0]] };
    expect(await statuses(service, [one, two, ask(), one, single])).toEqual([200, 502, 503, 501, 504]);
  });

  it('is a share of calls drawn by seed, batch and attempt: alike whatever their order', async () => {
    const batches = ids.map((id) => ask([id]));
    const fault = { fault: 'status', status: 500, when: { probability: 0.5 } } as const;
    const forth = await statuses(await suffer([fault]), batches);
    const back = await statuses(await suffer([fault]), batches.toReversed());
    expect(back.toReversed()).toEqual(forth);
    expect(new Set(forth)).toEqual(new Set([200, 500]));
  });
});
