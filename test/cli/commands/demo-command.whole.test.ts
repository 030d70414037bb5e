import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { runProgram } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';

it('demo makes the sample export in any folder, without a key, whatever the environment says of other jobs', async () => {
  const cwd = await tempFolder();
  const environment = { ASSET_EXPORT_URL: 'https://service.example', ASSET_EXPORT_OUT: 'elsewhere' };
  const { exit, stderr } = await runProgram(['demo'], { cwd, environment });
  expect(exit, stderr).toBe(0);
  expect(stderr).toContain('"exported":3000');
  expect(stderr).toContain('asset-export verify asset-export-demo');
  expect(readdirSync(cwd)).toEqual(['asset-export-demo']);
  expect(await runHere(['verify', 'asset-export-demo'], { cwd })).toMatchObject({ exit: 0 });

  // What help and hints say of its records works.
  const id = '1'.repeat(32);
  const get = await runHere(['get', id, '--url', 'embedded:asset-export-demo'], { cwd });
  expect({ exit: get.exit, stderr: get.stderr }).toEqual({ exit: 3, stderr: expect.stringContaining(id) as string });
});

it('demo takes a folder, and finds it complete the second time', async () => {
  const cwd = await tempFolder();
  expect(await runHere(['demo', join('a', 'b')], { cwd })).toMatchObject({ exit: 0 });
  const again = await runHere(['demo', join('a', 'b'), '--json'], { cwd });
  expect(JSON.parse(again.stdout)).toMatchObject({ state: 'already', exported: 3000, creditsOfRun: 0 });
});
