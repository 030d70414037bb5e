import dns from 'node:dns';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isIP } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { writeIdFile } from '../../../support/id-file.ts';
import { runProgram } from '../../../support/run-program.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { blackHole } from '../support/bad-proxies.ts';
import { failureOf, httpClient, pairCall } from '../support/http-exchange.ts';
import { reachService } from '../../../../src/core/run/check/check-service.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** The port of a host with two addresses: this one, and another, which refuses by default. */
function twoAddresses(first: string, second = '127.0.0.2'): string {
  const [address = '', port = ''] = first.split(':');
  const found = [address, second].map((each) => ({ address: each, family: isIP(each) }));
  vi.spyOn(dns, 'lookup').mockImplementation(((_: string, __: object, back: (error: null, all: object[]) => void) => {
    back(null, found);
  }) as unknown as typeof dns.lookup);
  return port;
}

describe('a host with several addresses', () => {
  it('is reached at the first one though that takes a second', async () => {
    const port = twoAddresses(await blackHole(300));
    const reaching = reachService({ origin: `http://two.example:${port}`, proxy: undefined, tls: undefined });
    await expect(reaching).resolves.toBeUndefined();
  });

  it('is named with each of them where none is reached, or none in time', async () => {
    const hole = await blackHole();
    const port = twoAddresses(hole);
    const client = httpClient(`http://two.example:${port}`, { timeoutMs: 1600 });
    const { message } = await failureOf(client.ask(pairCall));
    expect(message).toBe(
      `connection failed: connect ETIMEDOUT 127.0.0.1:${port}; connect ECONNREFUSED 127.0.0.2:${port}`,
    );
    twoAddresses(hole, '::ffff:127.0.0.1');
    const late = await failureOf(client.ask(pairCall));
    expect(late.message).toBe(
      `connection failed: no connection within 0.8 s (tried 127.0.0.1:${port}, ::ffff:127.0.0.1:${port})`,
    );
  });
});

/** Run in each process and thread of the program: prints how long an address has when it ends. */
const reporter = `
import { getDefaultAutoSelectFamilyAttemptTimeout as limit } from 'node:net';
import { isMainThread } from 'node:worker_threads';
import { writeSync } from 'node:fs';
process.on('exit', () => writeSync(2, \`\${isMainThread ? 'process' : 'thread'} \${limit()}\\n\`));
`;

it('each process and thread of the program gives an address 2.5 s', async () => {
  const cwd = await tempFolder();
  await writeFile(join(cwd, 'reporter.mjs'), reporter);
  await writeIdFile(join(cwd, 'ids.txt'), { entries: 340 });
  const args = ['rehearse', '--ids', 'ids.txt', '--out', 'out', '--ids-per-call', '10', '--rows-per-part', '10'];
  const { exit, stderr } = await runProgram([...args, '--threads', '2'], {
    cwd,
    environment: { NODE_OPTIONS: `--import ${join(cwd, 'reporter.mjs')}` },
  });
  expect(exit).toBe(0);
  const limits = stderr.split('\n').filter((line) => /^(process|thread) \d+$/.test(line));
  expect(new Set(limits)).toEqual(new Set(['process 2500', 'thread 2500']));
});
