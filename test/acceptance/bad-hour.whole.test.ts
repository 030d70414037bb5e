import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { idEntries, writeIdFile } from '../support/id-file.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ids = idEntries({ entries: 2500 });

interface Trouble {
  /** Connections that may be open at once; one more is reset. */
  readonly mostConnections?: number;
  /** An id whose calls are never answered. */
  readonly hangsOn?: string | undefined;
  /** An id whose calls end in HTTP 500. */
  readonly failsOn?: string | undefined;
  /** Most ids a call. */
  readonly maxIds?: number;
}

interface Question {
  readonly id: number;
  readonly params: readonly [readonly string[]];
}

/** A service with records for all ids, and troubles of its own. */
async function startTroubled(trouble: Trouble): Promise<{ url: string; calls: () => number }> {
  const { hangsOn, failsOn, maxIds = 1000, mostConnections = Number.POSITIVE_INFINITY } = trouble;
  let calls = 0;
  let open = 0;
  const server = createServer((request, response) => {
    calls += 1;
    void answer(request, response);
  });
  server.on('connection', (socket: Socket) => {
    open += 1;
    socket.on('close', () => (open -= 1));
    if (open > mostConnections) socket.resetAndDestroy();
  });
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const { id, params } = JSON.parse(Buffer.concat(pieces).toString()) as Question;
    const [asked] = params;
    const body =
      asked.length > maxIds
        ? { error: { code: -32602, message: 'Too many ids in one call' } }
        : { result: asked.map((each) => ({ id: each, interface: 'V1_NFT', burnt: false })) };
    if (asked.length <= maxIds && asked.some((each) => each === hangsOn)) return;
    const fails = asked.length <= maxIds && asked.some((each) => each === failsOn);
    response.writeHead(fails ? 500 : 200, { 'content-type': 'application/json' });
    response.end(fails ? 'Internal Server Error' : JSON.stringify({ jsonrpc: '2.0', id, ...body }));
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, calls: () => calls };
}

const hangsOn = ids[617];
const failsOn = ids[1904];
interface Row extends Trouble {
  readonly name: string;
  readonly idsPerCall?: number;
  readonly overrun?: number;
  readonly exit: number;
  readonly mostCalls: number;
}

const rows: readonly Row[] = [
  { name: 'resets each connection beyond two', mostConnections: 2, exit: 0, mostCalls: 8 },
  { name: 'does so when 25 calls are wanted', mostConnections: 2, idsPerCall: 100, exit: 0, mostCalls: 40 },
  { name: 'hangs on one id', hangsOn, exit: 3, mostCalls: 60 },
  { name: 'answers 500 on one id', failsOn, exit: 3, mostCalls: 60 },
  { name: 'takes 100 ids a call', maxIds: 100, exit: 0, mostCalls: 45 },
  // Its plan of three calls allows 64: to find both ids takes more.
  {
    name: 'does all of that',
    mostConnections: 2,
    hangsOn,
    failsOn,
    maxIds: 100,
    exit: 3,
    mostCalls: 150,
    overrun: 150,
  },
];

// Half a minute of a row are pauses of the program. Where the machine stalls, good calls pass the second too, and are made again.
describe('a run of 2,500 ids against a service that', { timeout: 120_000 }, () => {
  // Promise, Whatever the service does: Resets beyond two connections, a hang, a 500, 100 ids a call: alone and together
  it.each(rows)('$name exports each good id', async ({ exit, mostCalls, idsPerCall = 1000, overrun, ...trouble }) => {
    const folder = await tempFolder();
    await writeIdFile(join(folder, 'ids.txt'), { entries: ids.length });
    const service = await startTroubled(trouble);
    const limits = ['--timeout-ms', '1000', '--ids-per-call', String(idsPerCall)];
    if (overrun !== undefined) limits.push('--overrun', String(overrun));
    const run = await runProgram(
      ['run', '--ids', 'ids.txt', '--url', service.url, '--out', 'out', '--format', 'csv', ...limits],
      { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') } },
    );
    expect(run.exit, run.stderr).toBe(exit);
    const bad = [trouble.hangsOn, trouble.failsOn].filter((id) => id !== undefined);
    const exported = readFileSync(join(folder, 'out/csv/assets/part-00000.csv'), 'utf8').trim().split('\n').slice(1);
    expect(exported.map((line) => line.slice(0, line.indexOf(',')))).toEqual(ids.filter((id) => !bad.includes(id)));
    expect(service.calls()).toBeLessThanOrEqual(mostCalls);
  });
});
