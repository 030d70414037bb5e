import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { recordRequests } from '../../support/listing/recorded-requests.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { runHere } from '../../support/run-here.ts';
import { startProgram } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const assets = fileURLToPath(new URL('../../../data/assets.jsonl.gz', import.meta.url));
const lines = gunzipSync(readFileSync(assets)).toString('utf8').trim().split('\n').slice(0, 3);
const ids = lines.map((line) => (JSON.parse(line) as { id: string }).id);
const unknown = '11111111111111111111111111111111';
const flags = [
  '--url',
  `embedded:${assets}`,
  '--show-fungible',
  '--show-collection-metadata',
  '--show-unverified-collections',
];

describe('get', () => {
  it('writes the record of one id to stdout as the service sent it', async () => {
    const run = await runHere(['get', ids[0] ?? '', ...flags]);
    expect(run).toMatchObject({ exit: 0, stdout: `${lines[0] ?? ''}\n`, stderr: '' });
  });

  it('writes records in the order of the ids, and each once', async () => {
    const run = await runHere(['get', ...ids.toReversed(), ids[0] ?? '', ...flags]);
    expect(run).toMatchObject({ exit: 0, stdout: `${lines.toReversed().join('\n')}\n` });
  });

  it('asks for several ids by `getAssets`, though each is a call of its own, and for one by `getAsset`', async () => {
    const service = await startGeneratedService({ missingPercent: 100 });
    const recorded = await recordRequests(service);
    const methods = () =>
      recorded.requests.splice(0).map(({ body }) => (JSON.parse(body) as { method: unknown }).method);
    const folder = await tempFolder();
    const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
    const get = (...some: readonly string[]) =>
      runHere(['get', ...some, '--url', recorded.url, '--ids-per-call', '1'], { cwd: folder, environment });
    expect(await get(...ids)).toMatchObject({ exit: 3 });
    expect(methods()).toEqual(['getAssets', 'getAssets', 'getAssets']);
    expect(await get(ids[0] ?? '')).toMatchObject({ exit: 3 });
    expect(methods()).toEqual(['getAsset']);
    await recorded.close();
    await service.stop();
  });

  it('names unknown ids on stderr and exits with 3, with the others on stdout', async () => {
    const run = await runHere(['get', unknown, ids[1] ?? '', ...flags]);
    expect(run.exit).toBe(3);
    expect(run.stdout).toBe(`${lines[1] ?? ''}\n`);
    expect(run.stderr).toContain(`${unknown}: missing`);
    const alone = await runHere(['get', unknown, ...flags]);
    expect(alone).toMatchObject({ exit: 3, stdout: '' });
    expect(alone.stderr).toContain(`${unknown}: missing`);
  });

  // Promise, Nothing overspent: `get` requests nothing more when its reader leaves
  it('asks for nothing more when its reader went away, and ends without a word', async () => {
    const many = Array.from({ length: 60 }, (_, n) => generatedId(4, n));
    const service = await startGeneratedService({ delayMs: 30 });
    const folder = await tempFolder();
    const { child, ended } = startProgram(
      ['get', ...many, '--url', service.url, '--ids-per-call', '1', '--concurrency', '2'],
      { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') } },
    );
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await ended).toMatchObject({ exit: 0, stderr: '' });
    await service.stop();
    expect(service.counts().calls).toBeLessThan(many.length / 3);
  });

  it('that fails or is stopped does not say that it goes on where it was: it keeps nothing', async () => {
    const folder = await tempFolder();
    const service = await startGeneratedService({ delayMs: 60_000 });
    const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
    const get = (url: string) =>
      startProgram(['get', ids[0] ?? '', '--url', url, '--retries', '0'], { cwd: folder, environment });
    const failed = await get('http://127.0.0.1:9').ended;
    expect(failed).toMatchObject({
      exit: 5,
      stderr: expect.stringContaining('Nothing listens on that host and port') as string,
    });
    const { child, ended } = get(service.url);
    while (service.counts().calls === 0) await new Promise((resolve) => setTimeout(resolve, 2));
    child.kill('SIGINT');
    const stopped = await ended;
    await service.stop();
    expect(stopped.exit, stopped.stderr).toBe(130);
    for (const { stderr } of [failed, stopped]) expect(stderr).not.toMatch(/goes on|kept|; waiting/);
  });

  it('refuses what is no id before anything is asked', async () => {
    const run = await runHere(['get', 'nonsense', ...flags]);
    expect(run).toMatchObject({ exit: 2, stdout: '' });
    expect(run.stderr).toContain('not an asset id: nonsense');
  });
});

describe('get --ids', () => {
  it('reads lists as run does, from files and stdin, and sends full calls', async () => {
    const folder = await tempFolder();
    const service = await startGeneratedService();
    const many = Array.from({ length: 25 }, (_, n) => generatedId(4, n));
    await writeFile(join(folder, 'a.json'), JSON.stringify([...many.slice(0, 20), many[0]]));
    await writeFile(
      join(folder, 'b.csv'),
      `wallet,tokenMint\n${many
        .slice(20)
        .map((id) => `x,${id}`)
        .join('\n')}\n`,
    );
    const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
    const get = (line: readonly string[], stdin?: string) =>
      runHere(['get', ...line, '--url', service.url, '--ids-per-call', '10'], {
        cwd: folder,
        environment,
        ...(stdin === undefined ? {} : { stdin }),
      });
    const idsOf = ({ stdout }: { stdout: string }) =>
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id);
    const all = await get(['--ids', '*.{json,csv}']);
    expect(all).toMatchObject({ exit: 0, stderr: '' });
    expect(idsOf(all)).toEqual(many);
    expect(service.counts().calls).toBe(3);
    expect(idsOf(await get(['--ids', 'a.json', '--limit', '2']))).toEqual(many.slice(0, 2));
    const piped = await get(['--ids', '-'], `${many[1] ?? ''}, ${many[2] ?? ''}\noops\n`);
    expect(idsOf(piped)).toEqual([many[1], many[2]]);
    expect(piped.exit).toBe(3);
    expect(piped.stderr).toMatch(/^-:2: "oops": .*\n$/);
    await service.stop();
  });

  it('refuses what is no list, and ids that are given twice or not at all, before anything is asked', async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, 'page.txt'), '<!doctype html><p>Sign in</p>');
    await writeFile(join(folder, 'empty.txt'), '\n');
    const get = (...line: string[]) => runHere(['get', ...line, ...flags], { cwd: folder });
    const page = await get('--ids', 'page.txt');
    expect(page).toMatchObject({ exit: 4, stdout: '' });
    expect(page.stderr).toContain('it looks like an HTML page');
    expect(await get('--ids', 'empty.txt')).toMatchObject({ exit: 3, stdout: '' });
    expect((await get('--ids', 'page.txt', ids[0] ?? '')).stderr).toContain('ids were given twice');
    const none = await get();
    expect(none).toMatchObject({ exit: 2, stdout: '' });
    expect(none.stderr).toContain('--ids FILE');
  });
});
