import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import { readExportReport } from '../../../src/wings/report/report-export.ts';
import { statusAt } from '../../../src/wings/status/export-status.ts';
import { firstNight } from '../../support/nights.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { folderOf, runNight } from './support/lake-root.ts';

/** Refuses what commits a version of a table. */
const withoutLinks: Disk = {
  ...localDisk,
  link: async (from, to) => (to.includes('/lake/') ? 'refused' : localDisk.link(from, to)),
};

it('the record of a run has the exit code of its publication, in all views, until the night is in the lake', async () => {
  const root = await tempFolder();
  const same = { flags: { tables: 'assets' }, idFile: join(await tempFolder(), 'ids.txt') };
  const place = inFolder(localDisk, folderOf(root, 0));
  const seen = async () => {
    const { state, exit, lastError } = await statusAt(place, firstNight);
    const report = await readExportReport({ place, nowMs: firstNight, version: '1', extent: 'none' });
    return { state, exit, lastError, report: { exit: report.state.exit, error: report.state.error } };
  };
  const notInLake = expect.stringContaining('is complete, not in the lake') as string;
  const failed = { state: 'complete', exit: 7, lastError: notInLake, report: { exit: 7, error: notInLake } };
  await runNight(root, 0, { ...same, context: { files: withoutLinks } });
  expect(await seen()).toEqual(failed);
  await runNight(root, 0, same);
  expect(await seen()).toEqual({ ...failed, exit: 0, lastError: null, report: { exit: 0, error: null } });
});

it('a run that cannot publish a night that was complete before records that', async () => {
  const root = await tempFolder();
  const idFile = join(await tempFolder(), 'ids.txt');
  const tables = 'assets';
  await runNight(root, 0, { flags: { tables, lake: 'none' }, idFile });
  const outcome = await runNight(root, 0, { flags: { tables }, idFile, context: { files: withoutLinks } });
  expect(outcome.state).toBe('already');
  expect(await statusAt(inFolder(localDisk, folderOf(root, 0)), firstNight)).toMatchObject({ exit: 7 });
});
