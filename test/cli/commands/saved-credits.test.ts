import { expect, it } from 'vitest';
import { runMade } from '../../wings/report/made-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

it('a run with a base tells how many credits that saved, and one without a base does not', async () => {
  const cwd = await tempFolder();
  const first = await runMade({ cwd, out: 'first', flags: ['--base', 'none', '--ids-per-call', '3', '--json'] });
  expect(JSON.parse(first.stdout)).toMatchObject({ exported: 10, callsOfRun: 4 });
  expect(first.stdout).not.toContain('creditsSaved');
  const second = await runMade({ cwd, out: 'second', flags: ['--base', 'first', '--ids-per-call', '3', '--json'] });
  expect(JSON.parse(second.stdout)).toMatchObject({ carried: 10, callsOfRun: 0, creditsSaved: 4 * 160 });
});
