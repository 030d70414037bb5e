import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { exportBytes, fileBytes } from '../../support/run-export.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

// Promise, Nothing overspent: A repair requests nothing before its bill and `--yes`
// Promise, Nothing lost: `status`, `run`, `load` and later nights warn of an unfinished repair
it('verify names what is damaged and how to fix it; --repair prints the bill, and --yes pays within the budget', async () => {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 200 });
  const service = await startGeneratedService({ missingPercent: 4 });
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const run = (...args: string[]) => runHere(args, { cwd: folder, environment });
  const made = ['--ids-per-call', '20', '--rows-per-part', '40', '--format', 'csv'];
  const where = ['--ids', 'ids.txt', '--url', service.url];
  expect((await run('run', ...where, '--out', 'out', ...made)).exit).toBe(0);
  const whole = exportBytes(join(folder, 'out'));
  for (const part of [1, 3]) rmSync(join(folder, `out/csv/assets/part-0000${part}.csv`));

  const told = await run('verify', 'out');
  expect(told.exit).toBe(12);
  expect(told.stdout).toContain('csv/assets/part-00001.csv: it is missing');
  expect(told.stdout).toContain('asset-export verify out --repair');

  const bare = await run('verify', 'out', '--repair');
  expect(bare.exit, bare.stderr).toBe(12);
  expect(bare.stderr).toContain('add --job <job.yaml>');

  const shown = await runHere(['verify', 'out', '--repair', ...where], { cwd: folder, environment: {} });
  expect(shown.exit, shown.stderr).toBe(12);
  expect(shown.stderr).toContain('The rest must be requested from the service: 4 calls, 640 credits');
  expect(shown.stderr).toContain('Add --yes');
  const bill = await run('verify', 'out', '--repair', ...where, '--json');
  expect(JSON.parse(bill.stdout)).toMatchObject({ exitCode: 12, rebuilt: [], bill: { calls: 4, credits: 640 } });
  expect(service.counts().calls).toBe(10);

  const stopped = await run('verify', 'out', '--repair', '--yes', ...where, '--credits-per-run', '320', '--json');
  expect(stopped.exit, stopped.stderr).toBe(8);
  expect(JSON.parse(stopped.stdout)).toMatchObject({ ok: false, exitCode: 8, repaired: [1], calls: 2, credits: 320 });

  const resume = 'out has an unfinished repair. Resume it: asset-export verify out --repair --job <job.yaml> --yes';
  for (const command of [
    ['status', 'out'],
    ['load', 'out', '--to', 'duckdb:a.duckdb'],
    ['run', ...where, '--out', 'out', ...made],
    ['run', ...where, '--out', 'next', '--base', 'out', '--base-fetched-at', '2026-01-01', ...made],
  ])
    expect((await run(...command)).stderr.replaceAll(`${folder}/`, ''), command.join(' ')).toContain(resume);

  const mended = await run('verify', 'out', '--repair', '--yes', ...where);
  expect(mended.exit, mended.stderr).toBe(0);
  expect(mended.stdout).toContain('out: all is well');
  expect((await run('status', 'out')).stderr).toBe('');
  expect(mended.stderr).toContain('1 part requested again: 2 calls, 320 credits');
  expect(service.counts().calls).toBe(10 + 4);
  await service.stop();
  expect(fileBytes(join(folder, 'out'))).toEqual({ ...whole, 'manifest.json': '' });
});

it('verify --repair of a folder that does not exist says so, and makes none', async () => {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 2 });
  const args = ['verify', 'typo', '--repair', '--ids', 'ids.txt', '--url', 'embedded:nowhere.jsonl'];
  const { exit, stderr } = await runHere(args, { cwd: folder, environment: {} });
  expect(exit, stderr).toBe(2);
  expect(stderr).toMatch(/typo is not an export: it does not exist/);
  expect(readdirSync(folder)).toEqual(['ids.txt']);
});

// Promise, Nothing lost: A stray file damages nothing and stops no load
it('a stray file is a note of verify, damage only with --strict, and nothing to repair or to keep load from loading', async () => {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 20 });
  const service = await startGeneratedService({});
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const run = (...args: string[]) => runHere(args, { cwd: folder, environment });
  const where = ['--ids', 'ids.txt', '--url', service.url];
  expect((await run('run', ...where, '--out', 'out')).exit).toBe(0);
  await service.stop();
  for (const name of ['.DS_Store', '_SUCCESS']) writeFileSync(join(folder, 'out', name), '');
  const told = await run('verify', 'out');
  expect(told.exit).toBe(0);
  expect(told.stdout).toContain('ignored: 2 files not part of this export: .DS_Store, _SUCCESS');
  const strict = await run('verify', 'out', '--strict', '--json');
  expect(strict.exit).toBe(12);
  expect(JSON.parse(strict.stdout)).toMatchObject({ ok: false, damage: [], strangers: ['.DS_Store', '_SUCCESS'] });
  const repaired = await run('verify', 'out', '--repair', ...where);
  expect(repaired.exit).toBe(0);
  expect(repaired.stdout + repaired.stderr).not.toMatch(/--yes|requested/);
  expect((await run('load', 'out', '--to', 'duckdb:a.duckdb')).exit).toBe(0);
});

it.each([
  ['--yes'],
  ['--job', 'job.yaml'],
  ['--ids', 'ids.txt'],
  ['--url', 'http://127.0.0.1:9'],
  ['--credits-per-run', '320'],
  ['--show-fungible'],
])('verify without --repair refuses %s, which it would not heed', async (...given) => {
  const { exit, stderr } = await runHere(['verify', 'out', ...given], { cwd: await tempFolder(), environment: {} });
  expect(exit, stderr).toBe(2);
  expect(stderr).toContain(`${given[0]} works only with --repair`);
});
