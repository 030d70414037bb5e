import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AssetCall } from '../../src/core/client/asset-client.ts';
import { type ListingDialect, type ServiceDialect, serviceDialects, takesKey } from '../../src/core/client/dialects.ts';
import { pageBody } from '../../src/wings/listing/index.ts';
import { callBody } from '../../src/core/client/wire/call-body.ts';
import { serviceAddress } from '../../src/core/client/wire/service-address.ts';
import { IdList } from '../../src/core/ids/id-list.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, type ServiceFaults, startService } from '../../src/practice-service.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { exportBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { startProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ids = Array.from({ length: 40 }, (_, n) => generatedId(4, n));
const apiKey = 'a/key+?';

async function served(
  folder: string,
  dialect: ServiceDialect,
  faults: ServiceFaults['faults'] = [],
): Promise<RunningService> {
  const path = join(folder, 'assets.jsonl');
  writeFileSync(
    path,
    ids
      .slice(2)
      .map((id) => `${generatedRecord(id)}\n`)
      .join(''),
  );
  writeFileSync(join(folder, 'ids.txt'), ids.map((id) => `${id}\n`).join(''));
  const { creditsPerCall } = dialect;
  const options = {
    assets: [path],
    host: '127.0.0.1',
    port: 0,
    clock: systemClock,
    dialect,
    creditsPerCall,
    faults: { faults },
  };
  const service = await startService({ ...options, ...(takesKey(dialect) ? { apiKeys: [apiKey] } : {}) });
  onTestFinished(() => service.close());
  return service;
}

function commandUnder(
  dialect: ServiceDialect,
  service: RunningService,
  folder: string,
): { readonly args: string[]; readonly options: { cwd: string; environment: Record<string, string> } } {
  const args = ['run', '--ids', 'ids.txt', '--dialect', dialect.name, '--url', service.url, '--out', 'out'];
  const environment = {
    ASSET_EXPORT_STATE: join(folder, 'state'),
    ...(takesKey(dialect) ? { ASSET_EXPORT_API_KEY: apiKey } : {}),
  };
  return {
    args: [...args, '--format', 'csv,jsonl', '--ids-per-call', '10', '--concurrency', '1'],
    options: { cwd: folder, environment },
  };
}

function runUnder(dialect: ServiceDialect, service: RunningService, folder: string, more: readonly string[] = []) {
  const { args, options } = commandUnder(dialect, service, folder);
  return runHere([...args, ...more], options);
}

describe('an export', () => {
  it('has the same tables under every dialect, and costs what plan and service say', async () => {
    const tables: unknown[] = [];
    for (const dialect of serviceDialects) {
      const folder = await tempFolder();
      const service = await served(folder, dialect);
      const environment = { ASSET_EXPORT_STATE: join(folder, 'state') };
      const plan = await runHere(
        [
          'plan',
          '--ids',
          'ids.txt',
          '--dialect',
          dialect.name,
          '--url',
          service.url,
          '--out',
          'out',
          '--ids-per-call',
          '10',
          '--json',
        ],
        { cwd: folder, environment },
      );
      const { credits, price } = JSON.parse(plan.stdout) as { readonly credits: number; readonly price: object };
      expect(price).toMatchObject({ dialect: dialect.name, creditsPerCall: dialect.creditsPerCall });
      const run = await runUnder(dialect, service, folder, ['--json']);
      expect(run, run.stderr).toMatchObject({ exit: 0 });
      expect(JSON.parse(run.stdout)).toMatchObject({ calls: 4, credits, counts: { exported: 38, missing: 2 } });
      expect(service.counts()).toMatchObject({ calls: 4, credits, ids: 40 });
      expect(`${run.stdout}${run.stderr}`).not.toContain(apiKey);
      const files = Object.entries(exportBytes(join(folder, 'out'))).filter(([name]) =>
        /^(csv|jsonl|unexported)/.test(name),
      );
      tables.push(files);
    }
    expect(tables).toHaveLength(5);
    for (const other of tables.slice(1)) expect(other).toEqual(tables[0]);
  });

  // Promise, Nothing lost: A provider of another dialect finishes an export with the same tables, repeating no call
  it('that one provider began is finished by another, and no call is made twice', async () => {
    const folder = await tempFolder();
    const [first, second] = serviceDialects;
    if (first === undefined || second === undefined) throw new Error('no dialects');
    const one = await served(folder, first);
    const other = await served(folder, second);
    expect(await runUnder(first, one, folder, ['--credits-per-run', '320'])).toMatchObject({ exit: 8 });
    expect(await runUnder(second, other, folder)).toMatchObject({ exit: 0 });
    expect(one.counts().calls + other.counts().calls).toBe(4);
    expect(one.counts().calls).toBe(2);
  });

  it('that one provider began is finished by another after SIGKILL, and no call is made twice', async () => {
    const folder = await tempFolder();
    const [first, , second] = serviceDialects;
    if (first === undefined || second === undefined) throw new Error('no dialects');
    // What was answered is kept before the next call leaves, and that one costs nothing.
    const one = await served(folder, first, [{ fault: 'status', status: 503, when: { after: 2 } }]);
    const other = await served(folder, second);
    const { args, options } = commandUnder(first, one, folder);
    const { child, ended } = startProgram(args, options);
    while (one.counts().exchanges < 3 && child.exitCode === null) await setImmediate();
    child.kill('SIGKILL');
    expect(await ended).toMatchObject({ exit: 'SIGKILL' });
    expect(one.counts().calls).toBe(2);
    expect(await runUnder(second, other, folder)).toMatchObject({ exit: 0 });
    expect(other.counts().calls).toBe(2);
  });

  it('finds the ids that a provider does not know, where one of them fails its call with 404', async () => {
    const folder = await tempFolder();
    const helius = serviceDialects.find(({ name }) => name === 'helius');
    if (helius === undefined) throw new Error('no dialect');
    const service = await served(folder, helius, [{ fault: 'missing', as: 'error', status: 404 }]);
    const run = await runUnder(helius, service, folder, ['--json']);
    expect(run, run.stderr).toMatchObject({ exit: 0 });
    expect(JSON.parse(run.stdout)).toMatchObject({ counts: { exported: 38, missing: 2, failed: 0 } });
  });

  const said = 'Your plan: Quota Exceeded.';
  const bodies = [said, JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message: said } })];
  it.each(bodies.flatMap((text) => [200, 403, 429].map((status) => [status, text] as const)))(
    'ends with 8 when the service says with %i that the quota is spent, also if it is told to wait: %s',
    async (status, text) => {
      const folder = await tempFolder();
      const [like] = serviceDialects;
      if (like === undefined) throw new Error('no dialect');
      const name = 'provider.yaml';
      writeFileSync(join(folder, name), 'like: metamask\nquota: month\nspentWords: [quota exceeded]\n');
      const service = await served(folder, like, [{ fault: 'body', text, status, when: { after: 2 } }]);
      const run = await runUnder({ ...like, name }, service, folder, ['--when-spent', 'wait', '--concurrency', '2']);
      expect(run, run.stderr).toMatchObject({ exit: 8 });
      expect(run.stderr).toMatch(/quota|period/i);
      expect(run.stderr).not.toContain(apiKey);
      // No call leaves but the two that may be in flight, and each of them again.
      expect(service.counts().exchanges).toBeGreaterThanOrEqual(4);
      expect(service.counts().exchanges).toBeLessThanOrEqual(6);
      expect(await runUnder(like, await served(folder, like), folder)).toMatchObject({ exit: 0 });
    },
  );

  it('wants no key where the dialect takes none, and refuses one that is given', async () => {
    const folder = await tempFolder();
    const reference = serviceDialects.find(({ name }) => name === 'reference');
    if (reference === undefined) throw new Error('no dialect');
    const service = await served(folder, reference);
    const args = ['run', '--ids', 'ids.txt', '--dialect', 'reference', '--url', service.url, '--out', 'out'];
    const environment = { ASSET_EXPORT_STATE: join(folder, 'state'), ASSET_EXPORT_API_KEY: 'secret' };
    const refused = await runHere(args, { cwd: folder, environment });
    expect(refused).toMatchObject({ exit: 2, stderr: expect.stringContaining('take no key') as string });
    expect(refused.stderr).not.toContain('secret');
  });

  it('looks up missing ids alone only where the method for many cannot', async () => {
    const singles: number[] = [];
    for (const dialect of serviceDialects.slice(0, 2)) {
      const folder = await tempFolder();
      const service = await served(folder, dialect);
      expect(await runUnder(dialect, service, folder, ['--show-unverified-collections'])).toMatchObject({ exit: 0 });
      singles.push(service.counts().calls - 4);
    }
    expect(singles).toEqual([2, 0]);
  });
});

describe('serve', () => {
  it('refuses the requests of every other dialect that differ, and charges nothing', async () => {
    const asked: AssetCall = {
      method: 'getAssets',
      ids: IdList.of(ids.slice(0, 2)),
      flags: { showFungible: false, showCollectionMetadata: false, showUnverifiedCollections: false },
      part: 0,
      reader: undefined,
    };
    const listed = { filter: 'owner', address: ids[0] ?? '', onlyVerified: false, flags: asked.flags } as const;
    const bodiesOf = (dialect: ListingDialect) => [
      callBody(asked, dialect),
      pageBody(dialect, listed, { withTotal: false }).body,
    ];
    const send = async (service: RunningService, dialect: ListingDialect, body: Uint8Array<ArrayBuffer>) => {
      const { origin, path } = serviceAddress({ url: service.url, apiKey, dialect });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body });
      const text = await response.text();
      const { error } = (response.status === 200 ? JSON.parse(text) : {}) as {
        readonly error?: { readonly code: number };
      };
      return error?.code ?? response.status;
    };
    const folder = await tempFolder();
    for (const own of serviceDialects) {
      const service = await served(folder, own);
      for (const sent of serviceDialects) {
        const before = service.counts().credits;
        // The reference takes a list without a word for the order too, and no key more or less is a difference to it.
        const bodies = own.path === '/' && sent.name === 'helius' ? [callBody(asked, sent)] : bodiesOf(sent);
        for (const body of bodies) {
          const code = await send(service, sent, body);
          if (sent === own) expect(code, own.name).toBe(200);
          else {
            expect([404, 401, -32601, -32602], `${own.name} got ${sent.name}`).toContain(code);
            expect(service.counts().credits).toBe(before);
          }
        }
      }
    }
  });
});
