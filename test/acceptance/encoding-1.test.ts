import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkedJson, valueOfCheckedJson } from '../../src/lib/hash/checked-json.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { startService } from '../../src/practice-service.ts';
import { exportBytes } from '../support/run-export.ts';
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
});
