import { cp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkedJson, valueOfCheckedJson } from '../../src/lib/hash/sha256.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { startService } from '../../src/practice-service.ts';
import { exportBytes, runExport } from '../support/run-export.ts';
import { runHere } from '../support/run-here.ts';
import type { ProgramRun } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

/**
 * Made by the last version that wrote encoding 1: `full` and `night`, which is based on it, each also as a process killed by SIGKILL
 * left it; and what they were made of.
 */
const kept = fileURLToPath(new URL('encoding-1', import.meta.url));

async function copied(): Promise<{ folder: string; run: (...args: string[]) => Promise<ProgramRun> }> {
  const folder = await tempFolder();
  await cp(kept, folder, { recursive: true });
  await moveBase(join(folder, 'night-killed/.run/start.json'), join(folder, 'full'));
  const environment = { ASSET_EXPORT_API_KEY: 'k', ASSET_EXPORT_STATE: join(folder, 'state') };
  return { folder, run: (...args) => runHere(args, { cwd: folder, environment }) };
}

/** The base of an unfinished export is where it was. */
async function moveBase(path: string, folder: string): Promise<void> {
  const start = valueOfCheckedJson(await readFile(path)) as { readonly base: object };
  await writeFile(path, checkedJson({ ...start, base: { ...start.base, folder } }));
}

async function serviceOf(folder: string, records: string): Promise<string> {
  const assets = [join(folder, `${records}.jsonl.gz`)];
  const service = await startService({ assets, host: '127.0.0.1', port: 0, clock: systemClock });
  onTestFinished(() => service.close());
  return service.url;
}

/** What a manifest says of its export, whichever version wrote it. The call that was in flight at the kill was sent again. */
async function accountOf(folder: string): Promise<Record<string, unknown>> {
  const text = await readFile(join(folder, 'manifest.json'), 'utf8');
  return { ...(JSON.parse(text) as Record<string, unknown>), program: '', seal: '', calls: 0, credits: 0 };
}

describe('an export of encoding 1', () => {
  it.each([
    ['full', 'records'],
    ['night', 'later'],
  ])('that was killed (%s) is finished with the bytes of the version that began it', async (name, records) => {
    const { folder, run } = await copied();
    await rename(join(folder, name), join(folder, 'expected'));
    const url = await serviceOf(folder, records);
    const { exit, stderr } = await run(
      'run',
      `${name}.yaml`,
      '--url',
      url,
      '--out',
      `${name}-killed`,
      '--threads',
      '1',
    );
    expect(exit, stderr).toBe(0);
    const finished = join(folder, `${name}-killed`);
    const expected = join(folder, 'expected');
    expect(await accountOf(finished)).toEqual(await accountOf(expected));
    expect({ ...exportBytes(finished), 'manifest.json': '' }).toEqual({
      ...exportBytes(expected),
      'manifest.json': '',
    });
  });

  it('is read back whole: written anew in encoding 2 it has the same lines, and nothing differs', async () => {
    const { folder, run } = await copied();
    expect((await run('verify', 'full')).exit).toBe(0);
    expect((await run('verify', 'night')).exit).toBe(0);
    const rebuilt = await run('rebuild', 'full', '--out', 'again', '--format', 'parquet,jsonl');
    expect(rebuilt.exit, rebuilt.stderr).toBe(0);
    const [before, after] = [exportBytes(join(folder, 'full')), exportBytes(join(folder, 'again'))];
    expect(Object.keys(after)).toEqual(Object.keys(before));
    for (const [path, sha256] of Object.entries(after)) {
      const isParquet = path.endsWith('.parquet');
      if (path !== 'manifest.json') expect(sha256 === before[path], path).toBe(!isParquet);
    }
    expect(await accountOf(join(folder, 'again'))).toMatchObject({ encoding: 2 });
    const differs = await run('diff', 'full', 'again', '--exit-code');
    expect(differs.exit, differs.stderr).toBe(0);
  });

  it.each([
    ['full', 'records', 'parquet/creators/part-00001.parquet', 0],
    ['full', 'records', '*/part-00001.*', 4],
    ['night', 'later', '*/part-00001.*', 4],
  ])('is repaired with the bytes that it had: %s, %s, %s', async (name, records, pattern, calls) => {
    const { folder, run } = await copied();
    const out = join(folder, name);
    const before = exportBytes(out);
    const regex = new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    const lost = Object.keys(before).filter((path) => regex.test(path) && !path.startsWith('ids/'));
    for (const path of lost) await rm(join(out, path));
    const url = await serviceOf(folder, records);
    const { exit, stderr, stdout } = await run(
      ...['verify', out, '--repair', '--yes', '--job', `${name}.yaml`, '--url', url, '--json'],
    );
    expect(exit, stderr).toBe(0);
    expect(lost.length).toBeGreaterThan(0);
    expect({ ...exportBytes(out), 'manifest.json': '' }).toEqual({ ...before, 'manifest.json': '' });
    expect(JSON.parse(stdout)).toMatchObject({ calls });
  });

  it('serves as a base: the night has the bytes of one whose base was written in encoding 2', async () => {
    const { folder, run } = await copied();
    expect((await run('rebuild', 'full', '--out', 'again')).exit).toBe(0);
    const url = await serviceOf(folder, 'later');
    const nightOn = async (base: string): Promise<Readonly<Record<string, string>>> => {
      const out = join(folder, `on-${base}`);
      const outcome = await runExport({
        flags: {
          ids: join(folder, 'later-ids.txt'),
          url,
          out,
          base: join(folder, base),
          'max-age': '30d',
          'base-fetched-at': '2026-11-20T02:00:00Z',
          'ids-per-call': '5',
          'rows-per-part': '20',
          threads: '1',
          tables: 'assets,creators,changes',
          'max-missing': '100%',
          sample: '10%',
        },
        context: { clock: { ...systemClock, now: () => Date.UTC(2026, 10, 22, 2) } },
      });
      expect(outcome.error).toBeUndefined();
      return { ...exportBytes(out), 'manifest.json': '' };
    };
    const night = await nightOn('full');
    expect(night).toEqual(await nightOn('again'));
    const account = await accountOf(join(folder, 'on-full'));
    expect(account['encoding']).toBe(2);
    expect((account['counts'] as { readonly carried: number }).carried).toBeGreaterThan(30);
  });
});
