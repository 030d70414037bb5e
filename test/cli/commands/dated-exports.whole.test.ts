import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { takeLock } from '../../../src/places/files/lock.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const today = () => new Date().toISOString().slice(0, 10);

/** 50 ids in 5 calls, and the program in a folder of its own. */
async function nightly() {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  await writeIdFile(join(folder, 'ids.txt'), { entries: 50 });
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const program = (command: string, out: string, ...more: string[]) => {
    const line = ['--ids', 'ids.txt', '--url', service.url, '--out', out, '--format', 'csv', '--ids-per-call', '10'];
    return runHere([command, ...line, '--json', ...more], { cwd: folder, environment });
  };
  /** Leaves an export of a day unfinished, with 2 of its 5 calls sent. */
  const begin = async (out: string) => {
    expect((await program('run', out, '--credits-per-run', '320')).exit).toBe(8);
  };
  const isComplete = async (out: string) => (await readdir(join(folder, out))).includes('manifest.json');
  return { folder, program, begin, isComplete, calls: () => service.counts().calls };
}

const accountOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout) as Record<string, unknown>;

describe('{date} in the output folder', () => {
  it('is the UTC day: each has an export of its own, and the same command on the same day does nothing', async () => {
    const { program, isComplete } = await nightly();
    const plan = accountOf(await program('plan', 'out/date={date}/assets'));
    expect(plan).toMatchObject({ calls: 5, before: null });
    expect(plan['folder']).toContain(`out/date=${today()}/assets`);
    const first = await program('run', 'out/date={date}/assets');
    expect(first.exit, first.stderr).toBe(0);
    expect(await isComplete(`out/date=${today()}/assets`)).toBe(true);
    expect(accountOf(await program('run', 'out/date={date}/assets'))).toMatchObject({ state: 'already' });
  });

  // Promise, Nothing misread: With `{date}`, the newest unfinished export is finished first; `plan` agrees
  it('finishes the newest unfinished export first, then begins the one of today; plan says the same', async () => {
    const { folder, program, begin, isComplete, calls } = await nightly();
    await begin('out/2020-01-01');
    await begin('out/2020-01-02');
    await mkdir(join(folder, 'out/2020-01-03'));
    const plan = accountOf(await program('plan', 'out/{date}'));
    expect(plan).toMatchObject({
      calls: 8,
      credits: 1280,
      before: { calls: 3, folder: join(folder, 'out/2020-01-02') },
    });
    const sent = calls();
    const ran = await program('run', 'out/{date}');
    expect(ran.exit, ran.stderr).toBe(0);
    expect(calls() - sent).toBe(8);
    const account = accountOf(ran);
    expect(account).toMatchObject({ state: 'complete', callsOfRun: 8, before: { state: 'complete', callsOfRun: 3 } });
    expect(account['folder']).toContain(today());
    expect(await isComplete('out/2020-01-02')).toBe(true);
    expect(await isComplete(`out/${today()}`)).toBe(true);
    expect(await isComplete('out/2020-01-01')).toBe(false);
  });

  // Promise, Nothing misread: If its ids or job differ, it is left alone; if another run holds it: exit 11
  it('leaves an unfinished export alone whose ids or job changed, with one warning', async () => {
    const { folder, program, begin, isComplete } = await nightly();
    await begin('out/2020-01-02');
    await appendFile(join(folder, 'ids.txt'), `${(await readFile(join(folder, 'ids.txt'), 'utf8')).slice(0, 44)}\n`);
    for (const command of ['plan', 'run']) {
      const { exit, stdout, stderr } = await program(command, 'out/{date}');
      expect(exit, stderr).toBe(0);
      const warnings = `${stdout}${stderr}`.match(/ids\.txt changed since [^ ]*2020-01-02 started/g);
      expect(warnings).toHaveLength(1);
    }
    expect(await isComplete('out/2020-01-02')).toBe(false);
    expect(await isComplete(`out/${today()}`)).toBe(true);
  });

  it('ends with 11 while another run holds the unfinished export, and begins nothing', async () => {
    const { folder, program, begin, calls } = await nightly();
    await begin('out/2020-01-02');
    const lock = await takeLock(join(folder, 'out/2020-01-02'));
    onTestFinished(() => lock.release());
    const sent = calls();
    for (const command of ['plan', 'run']) {
      const { exit, stderr } = await program(command, 'out/{date}');
      expect(exit).toBe(11);
      expect(stderr).toContain('2020-01-02');
    }
    expect(await readdir(join(folder, 'out'))).toEqual(['2020-01-02']);
    expect(calls()).toBe(sent);
  });

  it('counts the credits of a run over both exports, and stops before today where they are spent', async () => {
    const { folder, program, begin, calls } = await nightly();
    await begin('out/2020-01-02');
    const sent = calls();
    const { exit, stdout } = await program('run', 'out/{date}', '--credits-per-run', '640');
    expect(exit).toBe(8);
    expect(calls() - sent).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ callsOfRun: 4, before: { callsOfRun: 3 } });
    await writeFile(join(folder, 'more'), '');
    const next = await program('run', 'out/{date}', '--credits-per-run', '160');
    expect(next.exit).toBe(8);
    expect(calls() - sent).toBe(5);
  });
});
