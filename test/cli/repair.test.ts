import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startGeneratedService } from '../support/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes } from '../support/run-export.ts';
import { runProgram } from '../support/run-program.ts';
import { tempFolder } from '../support/temp-folder.ts';

it('verify tells what is damaged and how to mend it, and with --repair makes it again within the budget', async () => {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 200 });
  const service = await startGeneratedService({ missingPercent: 4 });
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(folder, 'state') };
  const run = (...args: string[]) => runProgram(args, { cwd: folder, environment });
  const made = ['--ids-per-call', '20', '--rows-per-part', '40', '--format', 'csv'];
  const where = ['--ids', 'ids.txt', '--url', service.url];
  expect((await run('run', ...where, '--out', 'out', ...made)).exit).toBe(0);
  const whole = exportBytes(join(folder, 'out'));
  for (const part of [1, 3]) rmSync(join(folder, `out/csv/assets/part-0000${part}.csv`));

  const told = await run('verify', 'out');
  expect(told.exit).toBe(12);
  expect(told.stdout).toContain('csv/assets/part-00001.csv: it is missing');
  expect(told.stdout).toContain('asset-export verify out --repair');

  const stopped = await run('verify', 'out', '--repair', ...where, '--credits-per-run', '320', '--json');
  expect(stopped.exit, stopped.stderr).toBe(8);
  expect(JSON.parse(stopped.stdout)).toMatchObject({ ok: false, exitCode: 8, repaired: [1], calls: 2, credits: 320 });

  const mended = await run('verify', 'out', '--repair', ...where);
  expect(mended.exit, mended.stderr).toBe(0);
  expect(mended.stdout).toContain('out: all is well');
  expect(mended.stderr).toContain('1 part made again in 2 calls for 320 credits');
  expect(service.counts().calls).toBe(10 + 4);
  await service.stop();
  expect({ ...exportBytes(join(folder, 'out')), 'manifest.json': '' }).toEqual({ ...whole, 'manifest.json': '' });
});

it('verify --repair of a folder that does not exist says so, and makes none', async () => {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 2 });
  const args = ['verify', 'typo', '--repair', '--ids', 'ids.txt', '--url', 'embedded:nowhere.jsonl'];
  const { exit, stderr } = await runProgram(args, { cwd: folder, environment: {} });
  expect(exit, stderr).toBe(2);
  expect(stderr).toMatch(/typo does not exist/);
  expect(readdirSync(folder)).toEqual(['ids.txt']);
});

it.each([
  ['--job', 'job.yaml'],
  ['--ids', 'ids.txt'],
  ['--url', 'http://127.0.0.1:9'],
  ['--credits-per-run', '320'],
  ['--show-fungible'],
])('verify without --repair refuses %s, which it would not heed', async (...given) => {
  const { exit, stderr } = await runProgram(['verify', 'out', ...given], { environment: {} });
  expect(exit, stderr).toBe(2);
  expect(stderr).toContain(`${given[0]} needs --repair`);
});
