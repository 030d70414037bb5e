import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import type { ClientEvent } from '../../../../src/core/client/asset-client.ts';
import { requestId } from '../../../../src/core/client/wire/call-body.ts';
import {
  answerBody,
  batchCall,
  idOf,
  idsOf,
  recordIdsOf,
  recordText,
  singleBody,
  singleCall,
} from '../support/calls.ts';
import { failureOf, httpClient, pairBody, pairCall } from '../support/http-exchange.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { reply, startRoughServer } from '../support/rough-server.ts';

describe('an http client', () => {
  it('posts JSON to /v3/<key> and asks for gzip', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { body: pairBody });
    });
    const events: ClientEvent[] = [];
    const answer = await httpClient(`${server.url}/base/`, { listener: (event) => events.push(event) }).ask(pairCall);
    expect(recordIdsOf(answer)).toEqual([...pairCall.ids]);
    const [seen] = server.seen;
    expect(seen).toMatchObject({ method: 'POST', url: '/base/v3/canary-key%2F0123456789' });
    expect(seen?.headers).toMatchObject({ 'content-type': 'application/json', 'accept-encoding': 'gzip' });
    expect(JSON.parse(seen?.body ?? '')).toEqual({
      jsonrpc: '2.0',
      id: requestId(pairCall),
      method: 'getAssets',
      params: [[...pairCall.ids]],
    });
    expect(events).toMatchObject([
      { kind: 'sent', ids: 2 },
      { kind: 'answered', ids: 2, bytes: pairBody.length, ms: 0 },
    ]);
  });

  it('counts the ids of a second request no second time', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { body: pairBody });
    });
    const settled: number[] = [];
    const listener = (event: ClientEvent) => {
      if (event.kind === 'answered') settled.push(event.ids);
    };
    const client = httpClient(server.url, { listener });
    for (const again of [undefined, 1]) await client.ask({ ...pairCall, again });
    expect(settled).toEqual([2, 0]);
  });

  it.each(['keep-alive', 'close'])(
    'reads a body when there is room, and counts no time for the wait (%s)',
    async (connection) => {
      // More than a socket holds: what is not read stays with the service.
      const body = Buffer.concat([pairBody, Buffer.alloc(16_000_000, ' ')]);
      const server = await startRoughServer((response) => {
        response.setHeader('connection', connection);
        reply(response, { body });
      });
      const clock = createFakeClock();
      const events: ClientEvent[] = [];
      const client = httpClient(server.url, {
        clock,
        timeoutMs: 1000,
        maxAnswerBytes: 20_000_000,
        listener: (event) => events.push(event),
      });
      let asked = false;
      let give: () => void = () => undefined;
      const room = new Promise<void>((resolve) => (give = resolve));
      const answering = client.ask({
        ...pairCall,
        room: () => {
          asked = true;
          return room;
        },
      });
      // A body that ends with its connection is not left there.
      if (connection === 'keep-alive') {
        await vi.waitUntil(() => asked);
        for (let seconds = 0; seconds < 5; seconds += 1) await clock.advance(900);
        expect(events).toHaveLength(1);
        give();
      }
      expect(recordIdsOf(await answering)).toEqual([...pairCall.ids]);
      expect(events[1]).toMatchObject({ kind: 'answered', bytes: body.length, ms: 0 });
      expect(asked).toBe(connection === 'keep-alive');
    },
  );

  it.each(['keep-alive', 'close'])(
    'fails as a reset when the service leaves while its body waits (%s)',
    async (connection) => {
      const server = await startRoughServer((response) => {
        response.writeHead(200, { 'content-length': 1000, connection });
        response.write('{"jsonrpc"');
        setTimeout(() => response.socket?.resetAndDestroy(), 20);
      });
      const room = new Promise<void>(() => undefined);
      const error = await failureOf(httpClient(server.url).ask({ ...pairCall, room: () => room }));
      expect(error).toMatchObject({ failure: 'transport', why: 'connection' });
    },
  );

  it.each([201, 202, 203, 206])('takes its envelope under HTTP %i for an answer', async (status) => {
    const server = await startRoughServer((response) => {
      reply(response, { status, body: pairBody });
    });
    expect(recordIdsOf(await httpClient(server.url).ask(pairCall))).toEqual([...pairCall.ids]);
  });

  // Promise, Whatever the service does: Answers that belong to another call
  it('believes no answer to another call, and uses new connections from then on', async () => {
    // Each connection answers with what the request before it wanted.
    const before = new Map<number | undefined, string>();
    const server = await startRoughServer((response, { body }) => {
      const { id, params } = JSON.parse(body) as { id: number; params: [string[]] };
      const port = response.socket?.remotePort;
      const own = Buffer.from(answerBody(params[0].map(recordText), id)).toString();
      reply(response, { body: before.get(port) ?? own });
      before.set(port, own);
    });
    const client = httpClient(server.url, { connections: 1 });
    const calls = [0, 2, 4].map((from) => batchCall(idsOf(2, from)));
    for (const [n, call] of calls.entries()) {
      const shows = calls[n - 1]?.ids.first;
      if (n > 0)
        expect(await failureOf(client.ask(call))).toMatchObject({ failure: 'transport', foreign: true, shows });
      expect(recordIdsOf(await client.ask(call))).toEqual([...call.ids]);
    }
    expect(server.connections()).toBe(3);
  });

  it.each([
    ['records of other ids alone', (id: number) => answerBody([recordText(idOf(8)), 'null'], id), true],
    [
      'records of other ids among its own',
      (id: number) => answerBody([recordText(idOf(8)), recordText(idOf(1))], id),
      false,
    ],
    ['nothing, under an id that no call had', () => answerBody([], 7), false],
    ['nothing, under the id of another call', () => answerBody([], requestId(batchCall([idOf(9)]))), true],
    [
      'an error, under the id of another call',
      () =>
        Buffer.from(
          JSON.stringify({
            jsonrpc: '2.0',
            id: requestId(batchCall([idOf(9)])),
            error: { code: 413, message: 'too many ids' },
          }),
        ),
      true,
    ],
  ])('judges %s', async (_, bodyFor, isForeign) => {
    const server = await startRoughServer((response, { body }) => {
      const { id, params } = JSON.parse(body) as { id: number; params: [string[]] };
      const isOther = params[0].includes(idOf(9));
      reply(response, { body: isOther ? answerBody([recordText(idOf(9))], id) : bodyFor(id) });
    });
    const client = httpClient(server.url);
    await client.ask(batchCall([idOf(9)]));
    const asked = client.ask(batchCall([idOf(1), idOf(2)]));
    if (isForeign) expect(await failureOf(asked)).toMatchObject({ failure: 'transport', foreign: true });
    else expect((await asked).kind).toBe('records');
  });

  it('keeps its connections', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { body: pairBody });
    });
    const http = httpClient(server.url);
    for (let n = 0; n < 30; n += 1) await http.ask(pairCall);
    expect(server.connections()).toBeLessThanOrEqual(4);
  });

  it('reads getAsset, and none', async () => {
    const server = await startRoughServer((response, _, n) => {
      reply(response, { body: singleBody(n === 1 ? recordText(idOf(1)) : 'null') });
    });
    const http = httpClient(server.url);
    const answer = await http.ask(singleCall(idOf(1)));
    expect(recordIdsOf(answer)).toEqual([idOf(1)]);
    expect(await http.ask(singleCall(idOf(1)))).toMatchObject({ records: { count: 0 } });
  });

  it('asks for many ids', async () => {
    const many = batchCall(idsOf(1000));
    const server = await startRoughServer((response) => {
      reply(response, { body: answerBody(Array.from(many.ids, recordText)) });
    });
    expect(await httpClient(server.url).ask(many)).toMatchObject({ kind: 'records', idless: 0 });
    expect(server.seen[0]?.body).toContain(idOf(999));
  });

  it.each([
    ['gzip', gzipSync(pairBody)],
    ['x-gzip', gzipSync(pairBody)],
    ['br', brotliCompressSync(pairBody)],
    ['deflate', deflateSync(pairBody)],
    ['deflate', deflateRawSync(pairBody)],
    ['GZIP, br , identity', brotliCompressSync(gzipSync(pairBody))],
    ['', gzipSync(pairBody)],
  ])('decodes "%s", and takes any content type', async (encoding, body) => {
    const server = await startRoughServer((response) => {
      const headers = encoding === '' ? {} : { 'content-encoding': encoding };
      reply(response, { body, headers: { ...headers, 'content-type': 'text/html' } });
    });
    const answer = await httpClient(server.url).ask(pairCall);
    expect(answer.kind === 'records' && Buffer.from(answer.body).equals(pairBody)).toBe(true);
  });

  it.each([
    ['HTML with 200', 200, '<html><body>hi</body></html>', /malformed/],
    ['an empty body', 200, '', /malformed/],
    ['a null body', 200, 'null', /malformed/],
    ['a result of null', 200, '{"jsonrpc":"2.0","result":null,"id":1}', /not an array/],
    ['502 with HTML', 502, '<html><title>Bad Gateway</title>', /HTTP 502: an HTML page, “Bad Gateway”/],
    [
      '500 with an error object',
      500,
      '{"error":{"code":-32000,"message":"oh \\u001b[31mno"}}',
      /HTTP 500, error -32000: oh no/,
    ],
    ['204', 204, '', /HTTP 204/],
  ])('calls %s transient', async (...[, status, body, words]) => {
    const server = await startRoughServer((response) => {
      reply(response, { status, body });
    });
    const error = await failureOf(httpClient(server.url).ask(pairCall));
    expect(error).toMatchObject({ failure: 'transport', status, unsent: false });
    expect(error.message).toMatch(words);
  });

  it.each([
    ['seconds', '7', 7000],
    ['a date', 'Sat, 14 Mar 2026 09:00:30 GMT', 30_000],
    ['a past date', 'Sat, 14 Mar 2026 08:00:00 GMT', 0],
    ['nonsense', 'soon', undefined],
  ])('hands the wait of a 429 on: Retry-After in %s', async (_, header, waitMs) => {
    const server = await startRoughServer((response) => {
      reply(response, { status: 429, body: 'slow', headers: { 'retry-after': header } });
    });
    expect(await failureOf(httpClient(server.url).ask(pairCall))).toMatchObject({ failure: 'pace', waitMs });
  });

  it('hands on the wait that an older form of 429 names in its body', async () => {
    const server = await startRoughServer((response) => {
      reply(response, {
        status: 429,
        body: '{"error":{"code":-32005,"message":"request rate exceeded","data":{"backoff_seconds":30.0}}}',
      });
    });
    expect(await failureOf(httpClient(server.url).ask(pairCall))).toMatchObject({
      failure: 'pace',
      waitMs: 30_000,
    });
  });

  it.each([
    [413, 'too large', 'size'],
    [200, '{"jsonrpc":"2.0","error":{"code":-32702,"message":"Response is too big"},"id":1}', 'size'],
    [200, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Pubkey Validation Err: X is invalid"},"id":1}', 'id'],
    [200, '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Asset Not Found"},"id":1}', 'notFound'],
  ])('takes HTTP %i %s for a refusal: %s', async (status, body, why) => {
    const server = await startRoughServer((response) => {
      reply(response, { status, body });
    });
    expect(await httpClient(server.url).ask(pairCall)).toMatchObject({ kind: 'refused', why, status, doubtful: false });
  });

  it('ends with notTrusted on 401 and shows no key that the service echoes', async () => {
    const server = await startRoughServer((response) => {
      reply(response, { status: 401, body: 'invalid project id canary-key/0123456789' });
    });
    const error = await failureOf(httpClient(server.url).ask(pairCall));
    expect(error).toMatchObject({ exit: 'notTrusted', facts: { status: 401 } });
    expect(error.message).toContain('***');
  });

  it('takes 403 for a refused key where its words speak of the key, else only as long as nothing was answered', async () => {
    const bodies = [
      '{"error":{"code":-32002,"message":"rejected due to project ID settings"}}',
      'canary-key%2F0123456789',
    ];
    const errors: unknown[] = [];
    for (const body of bodies) {
      const server = await startRoughServer((response) => {
        reply(response, { status: 403, body });
      });
      errors.push(await failureOf(httpClient(server.url).ask(pairCall)));
    }
    expect(errors[0]).toMatchObject({ exit: 'notTrusted', facts: { status: 403 } });
    expect(errors[1]).toMatchObject({ failure: 'refusal', atFirst: { exit: 'notTrusted', facts: { status: 403 } } });
  });

  it('does not follow a redirect, which would carry the key along', async () => {
    const target = await startRoughServer((response) => {
      reply(response, { body: pairBody });
    });
    for (const status of [301, 302, 307, 308]) {
      const server = await startRoughServer((response, request) => {
        reply(response, { status, body: '', headers: { location: `${target.url}${request.url}` } });
      });
      const error = await failureOf(httpClient(server.url).ask(pairCall));
      expect(error).toMatchObject({ failure: 'refusal', atFirst: { exit: 'unavailable' } });
    }
    expect(target.seen).toHaveLength(0);
  });
});
