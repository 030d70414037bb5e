import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AssetCall } from '../../src/core/client/asset-client.ts';
import { type ServiceDialect, serviceDialects, takesKey } from '../../src/core/client/dialects.ts';
import { callBody } from '../../src/core/client/wire/call-body.ts';
import { serviceAddress } from '../../src/core/client/wire/service-address.ts';
import { IdList } from '../../src/core/ids/id-list.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { type RunningService, startService } from '../../src/practice-service.ts';
import { generatedId, generatedRecord } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { exportBytes } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ids = Array.from({ length: 40 }, (_, n) => generatedId(4, n));
const apiKey = 'a/key+?';

async function served(folder: string, dialect: ServiceDialect): Promise<RunningService> {
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
  const options = { assets: [path], host: '127.0.0.1', port: 0, clock: systemClock, dialect, creditsPerCall };
  const service = await startService({ ...options, ...(takesKey(dialect) ? { apiKeys: [apiKey] } : {}) });
  onTestFinished(() => service.close());
  return service;
}

function runUnder(dialect: ServiceDialect, service: RunningService, folder: string, more: readonly string[] = []) {
  const args = [
    '--ids',
    'ids.txt',
    '--dialect',
    dialect.name,
    '--url',
    service.url,
    '--out',
    `out`,
    '--format',
    'csv,jsonl',
  ];
  const environment = {
    ASSET_EXPORT_STATE: join(folder, 'state'),
    ...(takesKey(dialect) ? { ASSET_EXPORT_API_KEY: apiKey } : {}),
  };
  return runHere(['run', ...args, '--ids-per-call', '10', '--concurrency', '1', ...more], { cwd: folder, environment });
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
    const send = async (service: RunningService, dialect: ServiceDialect) => {
      const { origin, path } = serviceAddress({ url: service.url, apiKey, dialect });
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(`${origin}${path}`, { method: 'POST', headers, body: callBody(asked, dialect) });
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
        const code = await send(service, sent);
        if (sent === own) expect(code, own.name).toBe(200);
        else {
          expect([404, 401, -32601, -32602], `${own.name} got ${sent.name}`).toContain(code);
          expect(service.counts().credits).toBe(before);
        }
      }
    }
  });
});
