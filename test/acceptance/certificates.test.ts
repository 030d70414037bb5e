import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readLedgers } from '../../src/client/ledger/credit-ledger.ts';
import { certificates } from '../support/certificates.ts';
import { writeIdFile } from '../support/id-file.ts';
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
  const ended = await runProgram(['run', '--ids', 'ids.txt', '--url', url, '--out', 'out', '--format', 'csv'], {
    cwd: folder,
    environment: {
      ...{ ASSET_EXPORT_API_KEY: 'canary-key', ASSET_EXPORT_STATE: stateDir },
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
