import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { runProgram } from '../../support/run-program.ts';
import { tempFolder } from '../../support/temp-folder.ts';

// Promise, The first hour: `demo` works in any folder without key or network
it('demo makes the sample export in any folder, without a key, whatever the environment says of other jobs', async () => {
  const cwd = await tempFolder();
  const environment = { ASSET_EXPORT_URL: 'https://service.example', ASSET_EXPORT_OUT: 'elsewhere' };
  const { exit, stdout, stderr } = await runProgram(['demo'], { cwd, environment });
  // Whoever pipes it reads it: the log is not for them.
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  expect(stdout).toMatch(/exported +3,000\n/);
  expect(stdout).toContain('asset-export verify asset-export-demo');
  expect(readdirSync(cwd)).toEqual(['asset-export-demo']);
  expect(await runHere(['verify', 'asset-export-demo'], { cwd })).toMatchObject({ exit: 0 });

  // What help and hints say of its records works.
  const id = '1'.repeat(32);
  const get = await runHere(['get', id, '--url', 'embedded:asset-export-demo'], { cwd });
  expect({ exit: get.exit, stderr: get.stderr }).toEqual({ exit: 3, stderr: expect.stringContaining(id) as string });
});

it('demo shows three assets and the file to open within 20 lines of a terminal; a second time it is complete', async () => {
  const cwd = await tempFolder();
  const { exit, stdout } = await runHere(['demo', join('a', 'b')], { cwd, onTerminal: true });
  expect(exit).toBe(0);
  const lines = stdout.trimEnd().split('\n');
  expect(lines.length, stdout).toBeLessThanOrEqual(20);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
  const head = lines.findIndex((line) => /^ {2}name +owner +collection$/.test(line));
  for (const row of lines.slice(head + 1, head + 4)) expect(row).toMatch(/^ {2}\S.* {2}\w{4}…\w{4}( {2}\w{4}…\w{4})?$/);
  const open = /\n {2}open (\S+)(, the first of 4 files)?\n/.exec(stdout)?.[1] ?? '';
  expect(open).toBe('a/b/csv/assets/part-00000.csv');
  expect(existsSync(join(cwd, open))).toBe(true);
  expect(stdout).toContain('asset-export report a/b');
  // What is not shown there is in the long text, the notes after the table of files.
  const long = (await runHere(['demo', join('a', 'b')], { cwd })).stdout;
  expect(long).toMatch(
    /\n {4}assets .*\n[^]*\n {2}open a\/b\/csv\S+, the first of 4 files\n {2}note: 26 unknown fields/,
  );
  const again = await runHere(['demo', join('a', 'b'), '--json'], { cwd });
  expect(JSON.parse(again.stdout)).toMatchObject({ state: 'already', exported: 3000, creditsOfRun: 0 });
});
