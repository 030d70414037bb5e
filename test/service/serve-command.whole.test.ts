import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fileOf, idOf, temporaryFolder } from './local-service.ts';

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const records = [`{"id":"${idOf(1)}","x":1.0}`];
const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAsset', params: [idOf(1)] });

function start(flags: readonly string[]): ChildProcess & { readonly output: Promise<string> } {
  const child = spawn(process.execPath, [main, 'serve', ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stderr.on('data', (data: Buffer) => {
    text += data.toString();
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return Object.assign(child, { output: once(child, 'close').then(() => text) });
}

/** Starts `serve` and reads its address from the first line of stdout. */
async function serving(flags: readonly string[]): Promise<{ url: string; child: ReturnType<typeof start> }> {
  const child = start(['--port', '0', ...flags]);
  if (child.stdout === null) throw new Error('no stdout');
  const ended = once(child, 'exit').then(async () => {
    throw new Error(`serve ended before it was ready: ${await child.output}`);
  });
  const [url] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [string];
  ended.catch(() => undefined);
  return { url, child };
}

function post(url: string, key = 'key'): Promise<Response> {
  return fetch(`${url}/v3/${key}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: call });
}

describe('serve', () => {
  it('prints its address, answers, and ends with an account and status 0 at SIGTERM', async () => {
    const { url, child } = await serving(['--assets', fileOf(records)]);
    expect(await (await post(url)).text()).toBe(`{"jsonrpc":"2.0","result":${records[0] ?? ''},"id":1}`);
    child.kill('SIGTERM');
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(0);
    expect(await child.output).toContain(
      'answered 1 calls for 1 ids with 1 records; 160 credits charged, 0 calls refused',
    );
  });

  it('takes several files, named in any of the usual ways', async () => {
    const [first, second, third] = [1, 2, 3].map((n) => fileOf([`{"id":"${idOf(n)}"}`]));
    const [one, two, three] = [first ?? '', second ?? '', third ?? ''];
    for (const flags of [
      ['--assets', one, two, three],
      ['--assets', `${one},${two},${three}`],
    ]) {
      const { child } = await serving(flags);
      child.kill('SIGTERM');
      expect(await child.output).toContain('serving 3 assets');
    }
  });

  it('has forgotten no booking after it was killed', async () => {
    const flags = ['--assets', fileOf(records), '--store', temporaryFolder(), '--credits-per-day', '1600'];
    const remaining: (string | null)[] = [];
    for (let start = 0; start < 3; start += 1) {
      const { url, child } = await serving(flags);
      for (let calls = 0; calls < 2; calls += 1) remaining.push((await post(url)).headers.get('x-credits-remaining'));
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    expect(remaining).toEqual(['1440', '1280', '1120', '960', '800', '640']);
  });

  it('lets in the keys of the file alone', async () => {
    const { url } = await serving(['--assets', fileOf(records), '--api-key-file', fileOf(['one', 'two'], 'keys')]);
    expect([(await post(url, 'two')).status, (await post(url, 'three')).status]).toEqual([200, 401]);
  });

  it('suffers the faults of a file', async () => {
    const faults = fileOf(['seed: 1', 'faults:', '  - { fault: status, status: 503, when: { first: 1 } }'], 'f.yaml');
    const { url } = await serving(['--assets', fileOf(records), '--faults', faults]);
    expect([(await post(url)).status, (await post(url)).status]).toEqual([503, 200]);
  });

  it('answers lists with --dialect alone, at the price of a page', async () => {
    const owned = fileOf([`{"id":"${idOf(1)}","ownership":{"owner":"${idOf(2)}"}}`]);
    const listed = async (url: string, path: string, params: unknown): Promise<string> => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssetsByOwner', params });
      const headers = { 'content-type': 'application/json' };
      return (await fetch(`${url}${path}`, { method: 'POST', headers, body })).text();
    };
    const [plain, helius] = [
      await serving(['--assets', owned]),
      await serving(['--assets', owned, '--dialect', 'helius']),
    ];
    expect(await listed(plain.url, '/v3/key', [idOf(2)])).toContain('-32601');
    expect(await listed(helius.url, '/?api-key=key', { ownerAddress: idOf(2) })).toContain(
      `"items":[{"id":"${idOf(1)}"`,
    );
    helius.child.kill('SIGTERM');
    expect(await helius.child.output).toContain('answered 1 calls for 0 ids with 1 records; 10 credits charged');
  });

  it.each([
    [['--credits-per-day', 'many'], '--credits-per-day must be a whole number, not "many"'],
    [['--api-key-file', '/nowhere/keys'], 'cannot read the key file /nowhere/keys: no such file'],
  ])('refuses %j with status 2', async (flags, words) => {
    const child = start(['--assets', fileOf(records), ...flags]);
    const [code] = (await once(child, 'exit')) as [number];
    expect(code).toBe(2);
    expect(await child.output).toContain(words);
  });

  // Promise, Nothing lost: `serve` reports no client that leaves
  it('says nothing of clients that leave, whenever they do', async () => {
    const { url, child } = await serving(['--assets', fileOf(records)]);
    const { port } = new URL(url);
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: { ids: [idOf(1)] } });
    const head = `POST /v3/key HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    for (const [sent, leave] of [
      [head + body.slice(0, 20), (socket: Socket) => socket.resetAndDestroy()],
      [head + body.slice(0, 20), (socket: Socket) => socket.end()],
      [head + body, (socket: Socket) => socket.destroy()],
    ] as const) {
      const socket = connect(Number(port), '127.0.0.1');
      socket.on('error', () => undefined).resume();
      await new Promise<void>((resolve) =>
        socket.write(sent, () => {
          resolve();
        }),
      );
      // The service has the head once it has answered another client.
      expect((await post(url)).status).toBe(200);
      leave(socket);
      await once(socket, 'close');
      expect((await post(url)).status).toBe(200);
    }
    child.kill('SIGTERM');
    const output = await child.output;
    expect(output).toMatch(/^answered \d+ calls/m);
    expect(output).not.toContain('bug');
  });

  it('has forgotten no charge after SIGKILL', async () => {
    const flags = ['--assets', fileOf(records), '--store', temporaryFolder(), '--credits-per-day', '1600000'];
    let answered = 0;
    for (let round = 0; round < 3; round += 1) {
      const { url, child } = await serving(flags);
      const lane = async (): Promise<void> => {
        for (;;) {
          await (await post(url)).text();
          answered += 1;
          if (answered >= (round + 1) * 50) child.kill('SIGKILL');
        }
      };
      await Promise.allSettled([lane(), lane(), lane(), lane()]);
    }
    const { url } = await serving(flags);
    const spent = 1_600_000 - Number((await post(url)).headers.get('x-credits-remaining')) - 160;
    expect(spent).toBeGreaterThanOrEqual(answered * 160);
    expect(spent).toBeLessThanOrEqual((answered + 3 * 4) * 160);
  });
});
