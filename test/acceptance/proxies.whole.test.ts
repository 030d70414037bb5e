import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { readLedgers } from '../../src/core/client/ledger/credit-ledger.ts';
import { blackHole, rawServer, socksServer, tunnellingSocks } from '../core/client/support/bad-proxies.ts';
import { certificates } from '../support/certificates.ts';
import { idEntries, writeIdFile } from '../support/id-file.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram, startProgram, told } from '../support/run-program.ts';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { startStopwatch } from '../support/stopwatch.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { sampled } from '../model/support/sample.ts';

const service = 'https://service.example';
const timeoutMs = 1000;
const attempts = 2;
/** Back-off before the second attempt, and the two seconds that a run may take besides. */
const besidesMs = 500 + 2000;

interface Lost {
  readonly url: string;
  readonly environment: Readonly<Record<string, string>>;
}

const proxied = (address: string): Lost => ({ url: service, environment: { HTTPS_PROXY: address } });

interface Setting {
  readonly args: readonly string[];
  readonly options: { readonly cwd: string; readonly environment: Readonly<Record<string, string>> };
  /** What was booked, and the calls that `status` shows. */
  readonly bill: () => Promise<{ readonly booked: number; readonly calls: unknown }>;
}

async function setting({ url, environment }: Lost): Promise<Setting> {
  const cwd = await tempFolder();
  const stateDir = join(cwd, 'state');
  await writeIdFile(join(cwd, 'ids.txt'), { entries: 30 });
  return {
    args: ['run', '--ids', 'ids.txt', '--url', url, '--out', 'out', '--format', 'csv', '--ids-per-call', '10'],
    options: {
      cwd,
      environment: { ASSET_EXPORT_API_KEY: 'canary-key', ASSET_EXPORT_STATE: stateDir, ...environment },
    },
    bill: async () => {
      const days = await readLedgers({ stateDir, apiKey: 'canary-key' });
      const { stdout } = await runHere(['status', 'out', '--json'], { cwd });
      const booked = days.reduce((sum, { credits }) => sum + credits, 0);
      return { booked, calls: (JSON.parse(stdout) as { calls: unknown }).calls };
    },
  };
}

describe('a run that gets no connection', () => {
  const ways = [
    ['a silent proxy', async () => proxied(`http://${(await rawServer()).at}`)],
    ['a silent SOCKS server', async () => proxied(`socks5://${(await socksServer()).at}`)],
    ['a listener whose queue is full', async () => ({ url: `http://${await blackHole()}`, environment: {} })],
    ['a server that does not shake hands', async () => ({ url: `https://${(await rawServer()).at}`, environment: {} })],
  ] as const;
  // Promise, Nothing overspent: A run without a connection ends in time and books nothing (sampled)
  it.each(sampled(ways, 2))('from %s ends in time with 5, and books nothing', async (_, lost) => {
    const { args, options, bill } = await setting(await lost());
    const { child, ended } = startProgram([...args, '--timeout-ms', String(timeoutMs), '--retries', '1'], options);
    // The start of the program is not what is measured.
    await told(child, 'export started');
    const ms = startStopwatch(child.pid ?? 0);
    const run = await ended;
    expect(ms()).toBeLessThan(timeoutMs * attempts + besidesMs);
    expect(run.exit, run.stderr).toBe(5);
    expect(await bill()).toEqual({ booked: 0, calls: 0 });
  });

  // Promise, Nothing misread: SIGTERM ends in time a run whose proxy is silent
  it('is stopped by SIGTERM within the grace and a second', async () => {
    const proxy = await rawServer();
    const { args, options, bill } = await setting(proxied(`http://${proxy.at}`));
    const { child, ended } = startProgram([...args, '--grace-ms', '300'], options);
    while (proxy.heard() === '') await new Promise((resolve) => setTimeout(resolve, 20));
    const ms = startStopwatch(child.pid ?? 0);
    child.kill('SIGTERM');
    expect((await ended).exit).toBe(143);
    expect(ms()).toBeLessThan(300 + 1000);
    expect(await bill()).toEqual({ booked: 0, calls: 0 });
  });
});

describe('a run behind a proxy', () => {
  it.each([407, 403])('ends with 5 when that answers %i, and shows no password', async (status) => {
    const proxy = await listening(createHttpServer());
    proxy.server.on('connect', (_, socket: Socket) => socket.end(`HTTP/1.1 ${status} No\r\n\r\n`));
    const { args, options, bill } = await setting(proxied(`http://user:canary@127.0.0.1:${proxy.port}`));
    const run = await runProgram(args, options);
    expect(run.exit, run.stderr).toBe(5);
    expect(run.stderr).toContain(`The proxy of HTTPS_PROXY refused the connection to the service (HTTP ${status})`);
    expect(run.stderr).toContain('NO_PROXY');
    expect(run.stderr).not.toContain('canary');
    expect(await bill()).toEqual({ booked: 0, calls: 0 });
  });

  it('goes through one with TLS, and one of SOCKS', async () => {
    const generated = await startGeneratedService();
    onTestFinished(() => generated.stop());
    const { key, valid: cert } = certificates;
    const secure = await listening(createSecureServer({ key, cert }));
    secure.server.on('connect', (_, socket: Socket) => {
      const upstream = connect(generated.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      socket.on('error', () => upstream.destroy());
    });
    const authority = join(await tempFolder(), 'authority.pem');
    await writeFile(authority, cert);
    const socks = await tunnellingSocks(generated.port);
    for (const address of [`https://127.0.0.1:${secure.port}`, `socks5://${socks.at}`]) {
      const { args, options } = await setting({
        url: 'http://service.example',
        environment: { HTTP_PROXY: address, NODE_EXTRA_CA_CERTS: authority, NODE_NO_WARNINGS: '' },
      });
      const run = await runProgram([...args, '--threads', '2', '--rows-per-part', '10'], options);
      expect(run.exit, run.stderr).toBe(0);
      expect(run.stderr).not.toContain('Experimental');
    }
    expect(generated.counts().calls).toBe(6);
  });

  it('does not trust one whose certificate nobody signed', async () => {
    const { key, valid: cert } = certificates;
    const secure = await listening(createSecureServer({ key, cert }));
    const { args, options } = await setting(proxied(`https://127.0.0.1:${secure.port}`));
    const run = await runProgram(args, options);
    expect(run.exit, run.stderr).toBe(6);
    expect(run.stderr).toContain('The certificate of the proxy of HTTPS_PROXY is not valid');
  });

  it('is told that ALL_PROXY is ignored', async () => {
    const generated = await startGeneratedService();
    onTestFinished(() => generated.stop());
    const { args, options } = await setting({ url: generated.url, environment: { ALL_PROXY: 'socks5://127.0.0.1:9' } });
    for (const command of [args, ['plan', ...args.slice(1)]]) {
      const run = await runProgram(command, options);
      expect(run.exit, run.stderr).toBe(0);
      expect(run.stderr).toContain('ALL_PROXY is set, but calls do not use it');
    }
  });

  it.each(['socks4://127.0.0.1:1080', '127.0.0.1:3128'])(
    'ends with 2 before anything when it is %s',
    async (address) => {
      const { args, options } = await setting(proxied(address));
      const run = await runProgram(args, options);
      expect(run.exit, run.stderr).toBe(2);
      expect(run.stderr).toContain('HTTPS_PROXY is not a valid proxy address');
    },
  );

  it('reaches local records without it', async () => {
    const { args, options } = await setting({
      url: 'embedded:records.jsonl',
      environment: { HTTP_PROXY: `http://${(await rawServer()).at}` },
    });
    const records = idEntries({ entries: 30 }).map((id) => `${generatedRecord(id)}\n`);
    await writeFile(join(options.cwd, 'records.jsonl'), records.join(''));
    const run = await runProgram(args, options);
    expect(run.exit, run.stderr).toBe(0);
  });
});

async function listening(server: Server): Promise<{ readonly server: Server; readonly port: number }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { server, port: (server.address() as AddressInfo).port };
}
