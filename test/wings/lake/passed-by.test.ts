import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { nightsAt, planPruning } from '../../../src/wings/nights/index.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { dayOf, folderOf, runNight } from './support/lake-root.ts';

it('status, prune and patterns of base.from take no lake for a night', async () => {
  const root = await tempFolder();
  const flags = { tables: 'assets,creators' };
  await runNight(root, 0, { flags });
  const second = await runNight(root, 1, { flags: { ...flags, base: `${root}/*` } });
  expect(second.account.base?.name).toBe(`date=${dayOf(0)}`);

  const status = await runHere(['status', root, '--json']);
  const { exports } = JSON.parse(status.stdout) as { exports: { folder: string }[] };
  expect(exports.map(({ folder }) => folder)).toEqual([folderOf(root, 0), folderOf(root, 1)]);

  const nights = await nightsAt(inFolder(localDisk, root), { now: () => Date.now() });
  const { removed, kept } = await planPruning(
    nights,
    { last: 1, daily: 0, weekly: 0, monthly: 0 },
    { today: '2026-12-31' },
  );
  const names = [...removed, ...kept].map(({ name }) => name);
  expect(names.sort()).toEqual([`date=${dayOf(0)}`, `date=${dayOf(1)}`]);

  const only = await runHere([
    'plan',
    '--ids',
    join(root, 'lake/*/*/*.json'),
    '--url',
    'http://127.0.0.1:9',
    '--out',
    'x',
  ]);
  expect(only).toMatchObject({ exit: 4 });
  expect(only.stderr).toContain('matches only');
  expect(only.stderr).toContain('the tables of a lake are described');
}, 60_000);
