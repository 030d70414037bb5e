import { connect } from 'node:net';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RunningService } from '../../src/practice-service.ts';
import { call, idOf, serve } from './local-service.ts';
import { startStopwatch } from '../support/stopwatch.ts';

const id = idOf(1);

async function charged(service: RunningService, calls: number): Promise<void> {
  while (service.counts().calls < calls) await new Promise((resolve) => setImmediate(resolve));
}

describe('a service that is told to end', () => {
  const late = (ms: number) => serve([`{"id":"${id}"}`], { faults: { seed: 1, faults: [{ fault: 'latency', ms }] } });

  it('answers what it charged', async () => {
    const service = await late(300);
    const answer = call(service, 'getAssets', [[id]]);
    await charged(service, 1);
    await service.close(20_000);
    expect(await answer).toContain(`"result":[{"id":"${id}"}]`);
    await expect(call(service, 'getAssets', [[id]])).rejects.toThrow('fetch failed');
    expect(service.counts()).toMatchObject({ calls: 1, credits: 160 });
  });

  it('waits no longer than the time of grace', async () => {
    const service = await late(60_000);
    const answer = call(service, 'getAssets', [[id]]).catch((error: unknown) => error);
    await charged(service, 1);
    const ms = startStopwatch();
    await service.close(100);
    expect(ms()).toBeLessThan(5000);
    expect(await answer).toBeInstanceOf(Error);
  });
});

it('a client that does not read has one answer looked up, and gets all when it reads', async () => {
  const size = 9_000_000;
  const service = await serve([`{"id":"${id}","x":"${'a'.repeat(size)}"}`]);
  const { port } = new URL(service.url);
  const socket = connect(Number(port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  const body = `{"jsonrpc":"2.0","id":1,"method":"getAsset","params":["${id}"]}`;
  const head = `POST /v3/key HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.pause().write(`${head}${body}`.repeat(4));
  await charged(service, 1);
  // Others are answered meanwhile.
  expect(await call(service, 'getAssets', [[]])).toContain('"result":[]');
  expect(service.counts().calls).toBe(2);
  let read = 0;
  socket.on('data', (bytes: Buffer) => (read += bytes.length)).resume();
  while (read < 4 * size) await once(socket, 'data');
  expect(service.counts().calls).toBe(5);
});
