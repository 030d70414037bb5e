import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import { manifestBytes } from '../../../src/places/export/manifest.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const manifest = manifestBytes({
  program: { name: 'asset-export', version: '0' },
  job: {},
  inputs: [],
  counts: noCounts,
  calls: 0,
  credits: 0,
  parts: 0,
  tables: {},
  files: [],
  drift: [],
  notes: noNotes,
  commits: [],
});

it('prune reports without --yes, removes with it, and refuses to run without a rule', async () => {
  const folder = await tempFolder();
  for (const day of ['2026-11-20', '2026-11-21', '2026-11-22']) {
    await mkdir(join(folder, `date=${day}`));
    await writeFile(join(folder, `date=${day}/manifest.json`), manifest);
  }
  const program = (...flags: string[]) => runHere(['prune', '.', ...flags], { cwd: folder });
  const refused = await program('--yes');
  expect(refused.exit).toBe(2);
  expect(refused.stderr).toContain('--keep-daily');
  expect((await program('--keep-last', 'two')).exit).toBe(2);

  const plan = await program('--keep-last', '1', '--keep-daily', '2');
  expect(plan.stdout).toBe(
    [
      '.: 3 exports',
      '  remove  date=2026-11-20  0 B',
      '  keep    date=2026-11-21  daily 2026-11-21',
      '  keep    date=2026-11-22  newest, last 1 of 1, daily 2026-11-22',
      'Nothing was removed. With --yes: 1 export, 0 B.',
      '',
    ].join('\n'),
  );
  expect(await readdir(folder)).toHaveLength(3);

  const done = await program('--keep-last', '1', '--yes', '--json');
  expect(JSON.parse(done.stdout)).toMatchObject({
    done: true,
    kept: [{ name: 'date=2026-11-22', reasons: ['newest', 'last 1 of 1'] }],
    removed: [{ name: 'date=2026-11-20' }, { name: 'date=2026-11-21' }],
  });
  expect(await readdir(folder)).toEqual(['date=2026-11-22']);
});
