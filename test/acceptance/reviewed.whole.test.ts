import { inFolder } from '../../src/core/run/homes/export-place.ts';
import { existsSync } from 'node:fs';
import { chmod, rm, truncate, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statusAt } from '../../src/wings/status/export-status.ts';
import { readManifest } from '../../src/places/export/manifest.ts';
import { localDisk, type Disk } from '../../src/places/files/disk.ts';
import { type GeneratedService, startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes, runExport } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { freePort } from '../support/free-port.ts';

interface Scene {
  readonly folder: string;
  readonly service: GeneratedService;
  readonly flags: Readonly<Record<string, unknown>>;
}

async function scene(entries: number): Promise<Scene> {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries });
  const flags = { ids: join(folder, 'ids.txt'), url: service.url, out: join(folder, 'out'), format: 'jsonl' };
  return { folder, service, flags };
}

describe('an export', () => {
  it('takes a format or table that is named twice once', async () => {
    const { flags } = await scene(20);
    const outcome = await runExport({ flags: { ...flags, format: ['jsonl', 'jsonl,csv'], tables: 'assets,assets' } });
    expect(outcome.state).toBe('complete');
    expect(outcome.account.files.map(({ path }) => path)).toEqual([
      'jsonl/assets/part-00000.jsonl',
      'csv/assets/part-00000.csv',
      'unexported/part-00000.csv',
      'ids/part-00000.csv.gz',
    ]);
  });

  // Promise, Nothing lost: An export that lost its start is not bought again silently
  it('that lost its start is not bought again without a word', async () => {
    const { flags, service, folder } = await scene(100);
    const pieces = { ...flags, 'ids-per-call': '10', 'rows-per-part': '20', concurrency: '1' };
    const stopped = await runExport({ flags: { ...pieces, 'credits-per-run': '960' } });
    expect(stopped.error?.exit).toBe('spent');
    const asked = service.counts().calls;
    await truncate(join(folder, 'out/.run/start.json'), 0);
    await expect(runExport({ flags: pieces })).rejects.toMatchObject({ exit: 'damaged' });
    await rm(join(folder, 'out/.run/start.json'));
    await expect(runExport({ flags: pieces })).rejects.toMatchObject({ exit: 'damaged' });
    expect(service.counts().calls).toBe(asked);
    expect(await runExport({ flags: pieces, fresh: true })).toMatchObject({ state: 'complete' });
  });

  it('counts neither calls that never left nor credits for them', async () => {
    const { flags, service } = await scene(20);
    const port = await freePort();
    const refused = await runExport({ flags: { ...flags, url: `http://127.0.0.1:${port}`, retries: '0' } });
    expect(refused.error?.exit).toBe('unavailable');
    await runExport({ flags });
    const { calls, credits } = (await readManifest(localDisk, flags['out'] as string)) ?? {};
    expect({ calls, credits }).toEqual({ calls: service.counts().calls, credits: 160 });
  });

  it('has a status in the moment in which it is complete', async () => {
    const { flags } = await scene(20);
    await runExport({ flags });
    const out = flags['out'] as string;
    const lateStatus = () => {
      let looks = 0;
      const readAll: Disk['readAll'] = (path) =>
        path.endsWith('manifest.json') && (looks += 1) === 1 ? Promise.resolve(undefined) : localDisk.readAll(path);
      return statusAt(inFolder({ ...localDisk, readAll }, out), Date.now());
    };
    expect(await lateStatus()).toMatchObject({ state: 'complete', calls: 1 });
    const lock = await localDisk.takeLock(out);
    expect(await lateStatus()).toMatchObject({ state: 'complete', calls: 1 });
    await lock.remove();
  });

  it('tells the share of the inputs that its parts cover, not what was read ahead', async () => {
    const { flags, folder } = await scene(100);
    const pieces = { ...flags, 'ids-per-call': '10', 'rows-per-part': '20', concurrency: '1' };
    await runExport({ flags: { ...pieces, 'credits-per-run': '800' } });
    const status = await runHere(['status', join(folder, 'out'), '--json']);
    const { inputShare, counts } = JSON.parse(status.stdout) as { inputShare: number; counts: { read: number } };
    expect(counts.read).toBeGreaterThan(0);
    expect(inputShare).toBeCloseTo(counts.read / 100, 2);
  });

  it('sums what was booked at the price of each run', async () => {
    const { flags, folder } = await scene(100);
    const pieces = { ...flags, 'ids-per-call': '10', concurrency: '1' };
    await runExport({ flags: { ...pieces, 'credits-per-run': '800' } });
    const outcome = await runExport({ flags: { ...pieces, 'credits-per-call': '5' } });
    expect(outcome).toMatchObject({ callsOfRun: 5, creditsOfRun: 25, account: { calls: 10, credits: 825 } });
    expect(await readManifest(localDisk, join(folder, 'out'))).toMatchObject({ calls: 10, credits: 825 });
  });

  // Promise, Nothing overspent: Running a complete export again costs nothing
  it('that is complete is told so without a write', async () => {
    const { flags, folder } = await scene(20);
    await runExport({ flags });
    const before = exportBytes(join(folder, 'out'));
    const readOnly = { ...localDisk, makeFolder: refuse, open: refuse, remove: refuse, rename: refuse };
    const outcome = await runExport({ flags, context: { files: { ...readOnly, takeLock: refuse } } });
    expect(outcome.state).toBe('already');
    expect(exportBytes(join(folder, 'out'))).toEqual(before);
  });

  it('that was refused before it began leaves nothing behind', async () => {
    const { flags, folder } = await scene(20);
    await expect(runExport({ flags: { ...flags, ids: join(folder, 'none.txt') } })).rejects.toMatchObject({
      exit: 'input',
    });
    expect(existsSync(join(folder, 'out'))).toBe(false);
  });

  it('counts answers with another JSON-RPC id', async () => {
    const { flags } = await scene(3);
    const server = createServer((_, response) => {
      response.end('{"jsonrpc":"2.0","id":"zzz","result":[null,null,null]}');
    });
    server.listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const outcome = await runExport({ flags: { ...flags, url } });
    expect(outcome.account).toMatchObject({ counts: { missing: 3 }, notes: { otherResponseIds: 1 } });
  });
});

describe('the command line', () => {
  it('prints a JSON object on stdout for an error before the run, when --json asks for it', async () => {
    const folder = await tempFolder();
    for (const [args, exitCode, code] of [
      [['run', '--ids', 'none.txt', '--url', 'http://127.0.0.1:1', '--out', 'x', '--json'], 4, 'input'],
      [['verify', 'nowhere', '--json'], 2, 'usage'],
      [['status', 'nowhere', '--json'], 2, 'usage'],
    ] as const) {
      const run = await runHere(args, { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'k' } });
      expect(run.exit, run.stderr).toBe(exitCode);
      expect(JSON.parse(run.stdout)).toMatchObject({ state: 'error', exitCode, error: { code } });
    }
  });

  it('does not hang where no folder can be made', async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, 'ids.txt'), '11111111111111111111111111111111\n');
    await chmod(join(folder, 'ids.txt'), 0o644);
    const args = ['run', '--ids', 'ids.txt', '--url', 'http://127.0.0.1:1', '--out', '/proc/xx'];
    const run = await runProgram(args, { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'k' } });
    expect(run.exit, run.stderr).toBe(7);
  });

  it('refuses a tolerance above all', async () => {
    const run = await runHere([
      'plan',
      '--ids',
      'x',
      '--url',
      'http://127.0.0.1:1',
      '--out',
      'x',
      '--max-missing',
      '150%',
    ]);
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain('at most 100%');
  });
});

function refuse(): never {
  throw new Error('nothing may be written here');
}
