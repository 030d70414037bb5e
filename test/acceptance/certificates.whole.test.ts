import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readLedgers } from '../../src/core/client/ledger/credit-ledger.ts';
import { tunnellingSocks } from '../core/client/support/bad-proxies.ts';
import { certificates } from '../support/certificates.ts';
import { writeIdFile } from '../support/id-file.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

interface Question {
  readonly id: number;
  readonly params: readonly [readonly string[]];
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const { id, params } = JSON.parse(Buffer.concat(pieces).toString()) as Question;
  const result = params[0].map((each) => ({ id: each, interface: 'V1_NFT' }));
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** Runs ten ids against a service with a certificate; `trusted` is what NODE_EXTRA_CA_CERTS names. */
async function run(cert: string, trusted?: string) {
  const folder = await tempFolder();
  let requests = 0;
  const server = createServer({ key: certificates.key, cert }, (request, response) => {
    requests += 1;
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  await writeIdFile(join(folder, 'ids.txt'), { entries: 10 });
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, trusted ?? '');
  const stateDir = join(folder, 'state');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const args = ['run', '--ids', 'ids.txt', '--url', url, '--out', 'out', '--format', 'csv', '--threads', '1'];
  // Node.js reads the authorities when it starts.
  const ended = await (trusted === undefined ? runHere : runProgram)(args, {
    cwd: folder,
    environment: {
      ASSET_EXPORT_API_KEY: 'canary-key',
      ASSET_EXPORT_STATE: stateDir,
      ...(trusted === undefined ? {} : { NODE_EXTRA_CA_CERTS: authority }),
    },
  });
  const days = await readLedgers({ stateDir, apiKey: 'canary-key' });
  return { ...ended, requests, booked: days.reduce((sum, { credits }) => sum + credits, 0) };
}

describe('a run against a service whose certificate', () => {
  it.each([
    ['nobody signed', certificates.valid, undefined, 'self-signed'],
    ['has expired', certificates.expired, certificates.expired, 'expired'],
    ['is for another host', certificates.otherHost, certificates.otherHost, 'altnames'],
    // Promise, Nothing overspent: An invalid certificate ends a run at once; nothing is sent or booked
  ])('%s ends at once with 6, sends and books nothing, and says what to do', async (...[, cert, trusted, cause]) => {
    const { exit, stderr, requests, booked } = await run(cert, trusted);
    expect(exit, stderr).toBe(6);
    expect([requests, booked]).toEqual([0, 0]);
    expect(stderr).toContain(cause);
    expect(stderr).toContain('NODE_EXTRA_CA_CERTS');
    expect(stderr).not.toContain('canary');
  });

  it('is signed by an authority named in NODE_EXTRA_CA_CERTS goes well', async () => {
    const { exit, stderr, requests, booked } = await run(certificates.valid, certificates.valid);
    expect(exit, stderr).toBe(0);
    expect([requests, booked]).toEqual([1, 160]);
  });
});

describe('service.tls', () => {
  const { key, valid, expired } = certificates;

  /** A service that speaks only to those who show a certificate that `valid` signed, and a job for it. */
  async function guarded(tls: Readonly<Record<string, string>>) {
    const folder = await tempFolder();
    const subjects: unknown[] = [];
    const server = createServer({ key, cert: valid, ca: valid, requestCert: true }, (request, response) => {
      void answer(request, response);
    });
    server.on('secureConnection', (socket) => subjects.push(socket.getPeerCertificate().subject.CN));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const port = (server.address() as AddressInfo).port;
    await writeIdFile(join(folder, 'ids.txt'), { entries: 40 });
    for (const [name, text] of Object.entries({ key, valid, expired })) await writeFile(join(folder, name), text);
    await writeFile(
      join(folder, 'job.json'),
      JSON.stringify({
        ids: { from: 'ids.txt' },
        service: { url: `https://127.0.0.1:${port}`, idsPerCall: 10, tls },
        output: { dir: 'out', formats: ['csv'], rowsPerPart: 10 },
      }),
    );
    const stateDir = join(folder, 'state');
    const options = (environment: Readonly<Record<string, string>> = {}) => ({
      cwd: folder,
      environment: { ASSET_EXPORT_API_KEY: 'canary-key', ASSET_EXPORT_STATE: stateDir, ...environment },
    });
    const command = (args: readonly string[], environment?: Readonly<Record<string, string>>) =>
      runHere(args, options(environment));
    const booked = async (): Promise<number> =>
      (await readLedgers({ stateDir, apiKey: 'canary-key' })).reduce((sum, { credits }) => sum + credits, 0);
    return { folder, port, subjects, command, options, booked };
  }

  const mutual = { cert: 'valid', key: 'key', ca: 'valid' };

  it('shows its certificate and trusts its authority, in threads too', async () => {
    const { options, subjects } = await guarded(mutual);
    const run = await runProgram(['run', 'job.json', '--threads', '2'], options());
    expect(run.exit, run.stderr).toBe(0);
    // Where threads make the parts, they alone send.
    expect(new Set(subjects)).toEqual(new Set(['localhost']));
  });

  it('does so through a proxy, and in get', async () => {
    const { command, port, subjects } = await guarded(mutual);
    const proxy = await tunnellingSocks(port);
    const ids = ['11111111111111111111111111111112', '11111111111111111111111111111113'];
    const run = await command(['get', ...ids, '--job', 'job.json'], { HTTPS_PROXY: `socks5://${proxy.at}` });
    expect(run.exit, run.stderr).toBe(0);
    expect(subjects).toEqual(['localhost']);
    expect(proxy.connections()).toBe(1);
  });

  it('may change between runs', async () => {
    const { command, folder } = await guarded({ ...mutual, ca: 'expired' });
    expect((await command(['run', 'job.json', '--threads', '1'])).exit).toBe(6);
    const job = await readFile(join(folder, 'job.json'), 'utf8');
    await writeFile(join(folder, 'job.json'), job.replace('"ca":"expired"', '"ca":"valid"'));
    const run = await command(['run', 'job.json', '--threads', '1']);
    expect(run.exit, run.stderr).toBe(0);
  });

  it.each([
    [{ ...mutual, key: 'nowhere' }, 'service.tls.key: the file'],
    [{ ...mutual, cert: 'ids.txt' }, 'holds no certificate in PEM'],
    [{ cert: 'valid' }, 'service.tls.key must be set when service.tls.cert is set'],
  ])('that is wrong ends with 2 before anything begins: %j', async (tls, words) => {
    const { command, folder, subjects, booked } = await guarded(tls);
    const run = await command(['run', 'job.json', '--threads', '1']);
    expect(run.exit, run.stderr).toBe(2);
    expect(run.stderr).toContain(words);
    expect(existsSync(join(folder, 'out'))).toBe(false);
    expect([subjects, await booked()]).toEqual([[], 0]);
  });
});
