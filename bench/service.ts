/**
 * `serve` under load, beside a bare HTTP server that answers the same bytes from one prepared buffer, in one run.
 *
 *     node --import ts-blank-space/register bench/service.ts --assets 1000000 --seconds 20
 *
 * The load comes from this process; what the two servers take is read from their own CPU time in /proc (Linux).
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { generatedId, generatedRecord } from '../src/service/generated/generated-assets.ts';

const { values } = parseArgs({
  options: {
    assets: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '8' },
    'bare-answer': { type: 'string' },
  },
});
const assets = Number(values.assets);
const idsPerCall = 1000;

if (values['bare-answer'] === undefined) await measure();
else serveBare(readFileSync(values['bare-answer']));

async function measure(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-service-'));
  try {
    const data = join(folder, 'assets.jsonl');
    const bytes = await writeAssets(data);
    const started = performance.now();
    const flags = ['serve', '--assets', data, '--store', join(folder, 'store'), '--port', '0'];
    const service = await start([fileURLToPath(new URL('../dist/main.js', import.meta.url)), ...flags]);
    print('assets', assets, `${(bytes / assets).toFixed(0)} bytes each`);
    print(
      'built and opened',
      (performance.now() - started) / 1000,
      `s, at most ${service.peakMiB.toFixed(0)} MiB of its own meanwhile`,
    );
    const whole = await load(service, `${service.url}/v3/key`);
    const answer = join(folder, 'answer.json');
    await new Promise((resolve) =>
      createWriteStream(answer).end(whole.answer, () => {
        resolve(undefined);
      }),
    );
    service.child.kill();
    const bare = await start([fileURLToPath(import.meta.url), '--bare-answer', answer]);
    const ceiling = await load(bare, bare.url);
    bare.child.kill();
    print('of the bare server, by CPU time', whole.assetsPerCpuSecond / ceiling.assetsPerCpuSecond, '');
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function writeAssets(path: string): Promise<number> {
  const file = createWriteStream(path, { highWaterMark: 1 << 20 });
  for (let n = 0; n < assets; n += 1) {
    if (!file.write(`${generatedRecord(generatedId(0, n))}\n`)) await once(file, 'drain');
  }
  await new Promise((resolve) =>
    file.end(() => {
      resolve(undefined);
    }),
  );
  return file.bytesWritten;
}

interface Server {
  readonly child: ChildProcess;
  readonly url: string;
  /** Most memory of its own, mapped files aside, that was seen before it was ready. */
  readonly peakMiB: number;
}

async function start(command: readonly string[]): Promise<Server> {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('ts-blank-space/register'), ...command], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let peakMiB = 0;
  const watch = setInterval(() => {
    peakMiB = Math.max(peakMiB, memoryMiB({ child }));
  }, 50);
  const [url] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  clearInterval(watch);
  return { child, url, peakMiB };
}

/** Asks for random thousands on every connection, and says what it took. */
async function load(server: Server, url: string): Promise<{ assetsPerCpuSecond: number; answer: Buffer }> {
  const agent = new Agent({ keepAlive: true });
  const until = performance.now() + Number(values.seconds) * 1000;
  const [cpuBefore, memoryBefore] = [cpuSeconds(server), memoryMiB(server)];
  const from = performance.now();
  let answered = 0;
  let answer: Buffer = Buffer.alloc(0);
  const lane = async (): Promise<void> => {
    while (performance.now() < until) {
      answer = await ask(url, agent);
      if (!answer.subarray(0, 40).includes('"result":[{')) throw new Error(answer.toString('utf8', 0, 300));
      answered += idsPerCall;
    }
  };
  await Promise.all(Array.from({ length: Number(values.connections) }, lane));
  agent.destroy();
  const [wallS, cpuS] = [(performance.now() - from) / 1000, cpuSeconds(server) - cpuBefore];
  print(
    url.endsWith('/key') ? 'serve: assets/s' : 'bare: assets/s',
    answered / wallS,
    `wall; ${(answered / cpuS).toFixed(0)} a CPU second`,
  );
  print('memory of its own, before and after', memoryBefore, `MiB, ${memoryMiB(server).toFixed(0)} MiB`);
  return { assetsPerCpuSecond: answered / cpuS, answer };
}

function ask(url: string, agent: Agent): Promise<Buffer> {
  const ids = Array.from({ length: idsPerCall }, () => generatedId(0, Math.floor(Math.random() * assets)));
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getAssets', params: [ids] });
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { method: 'POST', agent, headers: { 'content-type': 'application/json' } },
      (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (piece: Buffer) => pieces.push(piece));
        response.once('end', () => {
          resolve(Buffer.concat(pieces));
        });
        response.once('error', reject);
      },
    );
    sent.once('error', reject);
    sent.end(body);
  });
}

/** The least an HTTP server can do: read the request, send the bytes. */
function serveBare(answer: Buffer): void {
  const server = createServer((incoming, response) => {
    incoming.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length }).end(answer);
    });
  });
  server.listen(0, '127.0.0.1', () => {
    const address = server.address();
    process.stdout.write(`http://127.0.0.1:${typeof address === 'object' ? String(address?.port) : ''}\n`);
  });
}

/** User and system time of a process: fields 14 and 15 of its stat, in hundredths of a second. */
function cpuSeconds({ child }: Server): number {
  const fields =
    readFileSync(`/proc/${child.pid ?? 0}/stat`, 'utf8')
      .split(') ')[1]
      ?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function memoryMiB({ child }: Pick<Server, 'child'>): number {
  const status = readFileSync(`/proc/${child.pid ?? 0}/status`, 'utf8');
  return Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}

function print(what: string, value: number, unit: string): void {
  process.stdout.write(`${what.padEnd(38)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}\n`);
}
