import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { writeIdFile } from '../../support/id-file.ts';
import { runHere } from '../../support/run-here.ts';
import { startProgram, told } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { sampled } from '../../model/support/sample.ts';

const job = `
ids: { from: ids.txt }
service: { url: 'https://service.invalid', idsPerCall: 50, retries: 20 }
budget: { creditsPerDay: 3200 }
output: { dir: out, formats: [csv, parquet] }
`;

async function rehearse(
  faults?: string,
  more: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ folder: string; run: Awaited<ReturnType<typeof runHere>> }> {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 500, invalidPercent: 2, duplicatePercent: 2 });
  await writeFile(join(folder, 'job.yaml'), job);
  if (faults !== undefined) await writeFile(join(folder, 'faults.yaml'), faults);
  const flags = faults === undefined ? [] : ['--faults', 'faults.yaml'];
  await writeFile(join(folder, 'marker'), '');
  const run = await runHere(['rehearse', 'job.yaml', '--json', '--missing-percent', '5', ...flags, ...more], {
    cwd: folder,
    environment: { TMPDIR: folder, ASSET_EXPORT_STATE: join(folder, 'state'), ...environment },
  });
  return { folder, run };
}

describe('rehearse', () => {
  it("runs the job's own ids and settings without a key, and leaves nothing behind", async () => {
    const { folder, run } = await rehearse();
    expect(run.exit, run.stderr).toBe(0);
    const account = JSON.parse(run.stdout) as Record<string, number>;
    expect(account).toMatchObject({ state: 'complete', read: 500, invalid: 10, failed: 0 });
    expect(account['callsOfRun']).toBe(Math.ceil(((account['exported'] ?? 0) + (account['missing'] ?? 0)) / 50));
    expect(account['missing']).toBeGreaterThan(5);
    expect(run.stderr).toMatch(/^\{"level":"info".*"msg":"Dry run: records are generated/);
    expect(run.stderr).not.toContain(folder);
    expect(run.stderr).not.toContain('unexported/');
    expect((await readdir(folder)).sort()).toEqual(['ids.txt', 'job.yaml', 'marker']);
  });

  it('speaks the dialect of the job, and counts its price', async () => {
    const file = join(await tempFolder(), 'mine.yaml');
    await writeFile(
      file,
      'like: reference\npath: /rpc?token={key}\nmany: getAssetBatch\ncreditsPerCall: 25\npriced: {source: a contract, day: 2026-01-01}\n',
    );
    for (const [dialect, price] of sampled(
      [['helius', 10] as const, ['reference', 0] as const, [file, 25] as const],
      3,
    )) {
      const { run } = await rehearse(undefined, ['--dialect', dialect]);
      expect(run.exit, run.stderr).toBe(0);
      const { callsOfRun = 0, creditsOfRun } = JSON.parse(run.stdout) as Record<string, number>;
      expect(callsOfRun).toBeGreaterThan(5);
      expect(creditsOfRun).toBe(callsOfRun * price);
      expect(run.stderr).toContain(`--dialect ${dialect}`);
    }
  });

  it('neither removes nor points to nights, nor publishes them', async () => {
    const folder = await tempFolder();
    const records = fileURLToPath(new URL('../../../data/assets.jsonl.gz', import.meta.url));
    await writeIdFile(join(folder, 'ids.txt'), { entries: 20 });
    const run = ['run', '--ids', 'ids.txt', '--url', `embedded:${records}`, '--max-missing', '100%', '--out'];
    for (const day of ['2026-01-01', '2026-01-02']) await runHere([...run, `out/date=${day}`], { cwd: folder });
    const nightly =
      'output: { dir: "out/date={date}", formats: [parquet], lake: [iceberg], keep: { last: 1 }, latest: true }';
    await writeFile(join(folder, 'job.yaml'), job.replace(/output: .*/, nightly));
    const before = (await readdir(join(folder, 'out'))).sort();
    const rehearsed = await runHere(['rehearse', 'job.yaml'], { cwd: folder });
    expect(rehearsed.exit, rehearsed.stderr).toBe(0);
    expect((await readdir(join(folder, 'out'))).sort()).toEqual(before);
    expect(before).toEqual(['date=2026-01-01', 'date=2026-01-02']);
  });

  it('shows what a budget and a bad day of the service would do', async () => {
    const faults = 'seed: 3\nfaults:\n  - { fault: status, status: 503, when: { attempts: 1, probability: 0.3 } }\n';
    const { run } = await rehearse(faults);
    expect(run.exit, run.stderr).toBe(0);
    const calm = 10;
    expect((JSON.parse(run.stdout) as Record<string, number>)['callsOfRun']).toBeGreaterThan(calm);
  });

  it('names no folder that is gone where more is missing than the job tolerates', async () => {
    const { folder, run } = await rehearse(undefined, ['--max-missing', '0']);
    expect(run.exit).toBe(3);
    expect(run.stderr).toContain('tolerance.maxMissing allows 0');
    expect(run.stderr).not.toContain(folder);
  });

  it('goes on past the credits of a day where the run would wait', async () => {
    const { run } = await rehearse(undefined, ['--when-spent', 'wait', '--credits-per-day', '320']);
    expect(run.exit, run.stderr).toBe(0);
    expect(run.stderr).toContain('The daily budget is ignored');
    expect(JSON.parse(run.stdout)).toMatchObject({ state: 'complete', callsOfRun: 10 });
  });

  // Promise, Nothing misread: `rehearse` ignores the daily budget unless asked for it
  it('ignores the budget of a day, unless it is asked for', async () => {
    const ignored = await rehearse(undefined, [], { ASSET_EXPORT_CREDITS_PER_DAY: '320' });
    expect(ignored.run.exit, ignored.run.stderr).toBe(0);
    expect(ignored.run.stderr).toContain('The daily budget is ignored');
    const asked = await rehearse(undefined, ['--credits-per-day', '320']);
    expect(asked.run.exit, asked.run.stderr).toBe(8);
    expect(JSON.parse(asked.run.stdout)).toMatchObject({ callsOfRun: 2 });
  });

  it('ends where the run would wait for the service to give new credits', async () => {
    const spent = 'faults: [{ fault: refusal, form: day, when: { after: 3 } }]\n';
    const { run } = await rehearse(spent, ['--when-spent', 'wait']);
    expect(run.exit, run.stderr).toBe(8);
  });

  it('refuses a budget that the run would refuse', async () => {
    const { run } = await rehearse(undefined, ['--when-spent', 'wait', '--credits-per-day', '100']);
    expect(run.exit, run.stderr).toBe(2);
    expect(run.stderr).toContain('below the price of one call');
  });

  it.each(
    sampled(
      [
        ['1', 3],
        ['2', 40],
      ] as const,
      2,
    ),
  )(
    'stopped by two signals leaves nothing behind: --threads %s, %d calls that are answered',
    async (threads, after) => {
      const folder = await tempFolder();
      await writeIdFile(join(folder, 'ids.txt'), { entries: 3000 });
      await writeFile(join(folder, 'job.yaml'), job);
      await writeFile(
        join(folder, 'faults.yaml'),
        `faults: [{ fault: latency, ms: 600000, when: { after: ${after} } }]`,
      );
      const flags = ['--threads', threads, '--rows-per-part', '100', '--faults', 'faults.yaml'];
      const { child, ended } = startProgram(['rehearse', 'job.yaml', '--credits-per-day', '9600', ...flags], {
        cwd: folder,
        environment: { TMPDIR: folder },
      });
      const heard = told(child, 'no new calls');
      await told(child, 'part committed');
      child.kill('SIGINT');
      await heard;
      expect(await readdir(folder)).toHaveLength(4);
      child.kill('SIGINT');
      expect((await ended).exit).toBe(130);
      expect((await readdir(folder)).sort()).toEqual(['faults.yaml', 'ids.txt', 'job.yaml']);
    },
  );

  it('says which faults file cannot be read', async () => {
    const { run } = await rehearse('faults:\n  - { fault: nonsense }\n');
    expect(run.exit).toBe(2);
    expect(run.stderr).toContain('faults.yaml');
  });
});
