import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunningService } from '../../src/practice-service.ts';
import { call, idOf, serve } from './local-service.ts';
import { anyText } from '../support/any-text.ts';
import { runsAll } from '../support/lane.ts';

const id = idOf(1);
const record = `{"id":"${id}"}`;
const valid = `{"jsonrpc":"2.0","id":1,"method":"getAssets","params":[["${id}"],{"showFungible":true}]}`;

interface Malformed {
  readonly method: string;
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer;
}

/** A valid body with one stretch of it replaced, or bytes that never were one. */
const body: fc.Arbitrary<Buffer> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.nat(valid.length), fc.nat(20), fc.oneof(anyText, fc.json(), fc.constant('')))
      .map(([start, length, text]) => Buffer.from(valid.slice(0, start) + text + valid.slice(start + length))),
  },
  {
    weight: 4,
    arbitrary: fc
      .record(
        {
          jsonrpc: fc.oneof(fc.constant('2.0'), fc.jsonValue()),
          id: fc.jsonValue(),
          method: fc.oneof(fc.constantFrom('getAsset', 'getAssets', '__proto__', 'constructor'), fc.jsonValue()),
          params: fc.oneof(
            fc.jsonValue(),
            fc.tuple(fc.oneof(fc.constant(id), fc.array(fc.constant(id)), fc.jsonValue()), fc.jsonValue()),
          ),
        },
        { requiredKeys: [] },
      )
      .map((call) => Buffer.from(JSON.stringify(call))),
  },
  { weight: 1, arbitrary: fc.array(fc.jsonValue(), { maxLength: 20 }).map((all) => Buffer.from(JSON.stringify(all))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)) },
  { weight: 1, arbitrary: fc.nat(20_000).map((depth) => Buffer.from('['.repeat(depth) + ']'.repeat(depth >> 1))) },
  { weight: 1, arbitrary: fc.nat(20_000).map((depth) => Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)) },
);

const malformed: fc.Arbitrary<Malformed> = fc.record({
  method: fc.oneof(
    { weight: 9, arbitrary: fc.constant('POST') },
    fc.constantFrom('PUT', 'PATCH', 'DELETE', 'PROPFIND'),
  ),
  path: fc.oneof(
    { weight: 9, arbitrary: fc.constant('/v3/key') },
    fc.webPath(),
    fc.constantFrom('/v3/%zz', '/v3/%00', '/v3/../x', '/v3/', '/v3/a/b', `/v3/${'k'.repeat(5000)}`, '/%', '//'),
  ),
  contentType: fc.oneof(
    { weight: 9, arbitrary: fc.constant('application/json') },
    fc.constantFrom('', 'text/plain', 'application/json;charset=\\', ';;', 'application/json; a="', 'é'),
  ),
  body,
});

interface Seen {
  readonly status: number;
  readonly text: string;
}

function send(service: RunningService, agent: Agent, { method, path, contentType, body }: Malformed): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': body.length, ...(contentType === '' ? {} : { 'content-type': contentType }) };
    const { hostname, port } = new URL(service.url);
    const sent = request({ hostname, port, agent, method, path: path === '' ? '/' : path, headers, timeout: 10_000 });
    sent.once('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('end', () => {
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(pieces).toString() });
      });
    });
    sent.once('timeout', () => sent.destroy(new Error('no answer')));
    sent.once('error', reject);
    sent.end(body);
  });
}

/** What a stack trace, a path or an inner name would look like. */
const leak = /\n\s+at |\.[jt]s:\d|node_modules|node:internal|Error:(?!.* Asset Not Found)/;
const statuses = [200, 204, 400, 401, 404, 405, 413, 415, 431];

describe('malformed requests', () => {
  it('any of them gets a short refusal without a stack trace, and the service goes on', async () => {
    const bugs: unknown[] = [];
    const service = await serve([record], { onError: (error) => bugs.push(error) });
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    onTestFinished(() => {
      agent.destroy();
    });
    const requests = fc.sample(malformed, { numRuns: runsAll ? 10_000 : 800, seed: 20_260_101 });
    const counts = new Map<number, number>();
    const lane = async (first: number): Promise<void> => {
      for (let index = first; index < requests.length; index += 8) {
        const sent = requests[index];
        if (sent === undefined) return;
        const { status, text } = await send(service, agent, sent);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        if (statuses.includes(status) && !leak.test(text)) continue;
        expect.fail(`request ${index} (${sent.method} ${sent.path}): ${status} ${text.slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, (_, first) => lane(first)));
    expect(bugs).toEqual([]);
    expect([...counts.keys()].length).toBeGreaterThan(5);
    expect(await call(service, 'getAsset', [id])).toContain(record);
  });

  it('what is not HTTP at all ends its own connection only', async () => {
    const service = await serve([record]);
    const port = Number(new URL(service.url).port);
    const head = 'POST /v3/key HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n';
    const fixed = [
      'GET',
      `${head}Content-Length: -1\r\n\r\n`,
      `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}`,
      `${head}Transfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n`,
      `${head}X: ${'a'.repeat(100_000)}\r\n\r\n`,
      `${head}\0: 1\r\n\r\n`,
    ];
    const random = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 500 }), { numRuns: 200, seed: 7 });
    for (const bytes of [...fixed.map((text) => Buffer.from(text)), ...random]) {
      const text = await new Promise<string>((resolve) => {
        const socket = connect(port, '127.0.0.1');
        let seen = '';
        socket.on('data', (data) => {
          seen += data.toString();
        });
        socket.on('error', () => undefined);
        socket.once('close', () => {
          resolve(seen);
        });
        socket.end(Buffer.from(bytes));
      });
      expect(text).not.toMatch(leak);
      if (text !== '') expect(text).toMatch(/^HTTP\/1\.1 4\d\d /);
    }
    expect(await call(service, 'getAsset', [id])).toContain(record);
  });
});
