import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkLake, publishAll } from '../../../src/wings/lake/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { dayOf, folderOf, openRoot, runNight } from './support/lake-root.ts';

const few = { flags: { tables: 'assets,creators,changes' } };

describe('the check of a lake', () => {
  it('names a table that lacks a night, and --publish adds it', async () => {
    const root = await tempFolder();
    for (const day of [0, 1]) await runNight(root, day, few);
    await rm(join(root, 'lake/creators'), { recursive: true });
    const fix = `asset-export lake ${root} --publish`;
    expect((await checkLake(openRoot(root))).problems).toEqual(
      [0, 1].map((day) => ({ problem: `creators, ${dayOf(day)}: the table lacks this night`, fix })),
    );
    expect((await publishAll(openRoot(root), undefined)).published).toEqual([dayOf(0), dayOf(1)]);
    const checked = await checkLake(openRoot(root));
    expect(checked.problems).toEqual([]);
    expect(checked.tables.map(({ nights }) => nights.length)).toEqual([2, 2, 2]);
  }, 60_000);

  it('names a night that is in no table but the first ones as unpublished', async () => {
    const root = await tempFolder();
    await runNight(root, 0, few);
    await rm(join(root, 'lake/assets'), { recursive: true });
    expect(await checkLake(openRoot(root))).toMatchObject({ unpublished: [dayOf(0)], problems: [] });
  }, 60_000);

  it('names --publish for a night in whose place there is an export with fewer tables', async () => {
    const root = await tempFolder();
    for (const day of [0, 1]) await runNight(root, day, few);
    const other = await tempFolder();
    await runNight(other, 1, { flags: { tables: 'assets,creators', lake: 'none', base: 'none' } });
    await rm(folderOf(root, 1), { recursive: true });
    await rename(folderOf(other, 1), folderOf(root, 1));
    const { problems } = await checkLake(openRoot(root));
    expect(new Set(problems.map(({ fix }) => fix))).toContain(`asset-export lake ${root} --publish`);
    expect((await publishAll(openRoot(root), undefined)).published).toEqual([dayOf(1)]);
    const checked = await checkLake(openRoot(root));
    expect(checked.problems).toEqual([]);
    expect(checked.tables.map(({ nights }) => nights.length)).toEqual([1, 2, 2]);
  }, 60_000);
});
