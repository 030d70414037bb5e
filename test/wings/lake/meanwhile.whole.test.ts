import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import { checkLake, lakeAt, lakeFollower, publishAll, rebuildLake } from '../../../src/wings/lake/index.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { auditTable } from './support/lake-audit.ts';
import { dayOf, folderOf, openRoot, runNight } from './support/lake-root.ts';
import { sampled } from '../../model/support/sample.ts';

const few = { flags: { tables: 'assets,creators,changes' } };
const outside = { flags: { ...few.flags, lake: 'none' } };
const clock = { now: () => Date.UTC(2026, 10, 25) };

/** A lake as one process sees it; another acts once, after the first file (by default: version) that this one puts in a table. */
function lakeWith(root: string, table: string, act: () => Promise<unknown>, file = 'v') {
  let isDone = false;
  const files: Disk = {
    ...localDisk,
    link: async (from, to) => {
      const linked = await localDisk.link(from, to);
      if (isDone || !to.includes(`/lake/${table}/metadata/${file}`)) return linked;
      isDone = true;
      await act();
      return linked;
    },
  };
  return lakeAt({ place: inFolder(files, root), clock });
}

const prune = (root: string, day: number) =>
  lakeFollower.removing({ place: inFolder(localDisk, root), clock }, [`date=${dayOf(day)}`], () =>
    rm(folderOf(root, day), { recursive: true }),
  );

const rebuilt = { location: undefined, isDone: true };

async function requireNights(root: string, days: readonly number[]) {
  const { tables, unpublished, problems } = await checkLake(openRoot(root));
  expect(problems).toEqual([]);
  expect(unpublished).toEqual([]);
  expect(tables.map(({ name, nights }) => [name, nights])).toEqual(
    ['changes', 'creators', 'assets'].map((name) => [name, days.map(dayOf)]),
  );
  for (const { name } of tables) expect(await auditTable(openRoot(root).store, name)).toEqual([]);
}

describe('a publication', () => {
  it.each(sampled(['changes', 'creators', 'assets'], 3))(
    'leaves out a night that is pruned while it is published, after %s',
    async (table) => {
      const root = await tempFolder();
      await runNight(root, 0, few);
      await runNight(root, 1, outside);
      await runNight(root, 2, outside);
      const { published, notes } = await publishAll(
        lakeWith(root, table, () => prune(root, 1)),
        undefined,
      );
      expect(published).toEqual([dayOf(2)]);
      expect(notes).toEqual([expect.stringContaining(`${folderOf(root, 1)} was removed while it was published`)]);
      await requireNights(root, [0, 2]);
    },
    60_000,
  );

  it.each(sampled(['changes', 'creators', 'assets'], 3))(
    'never names files of a night that is pruned before its version of %s is put',
    async (table) => {
      const root = await tempFolder();
      await runNight(root, 0, few);
      await runNight(root, 1, outside);
      const lake = lakeWith(root, table, () => prune(root, 1), '');
      await publishAll(lake, undefined);
      await requireNights(root, [0]);
      // Each version but the first was put for a night, or took one away.
      const versions = readdirSync(`${root}/lake/${table}/metadata`).filter((name) => /^v\d/.test(name));
      expect(versions).toHaveLength(1);
    },
    60_000,
  );

  it('of a run passes by an earlier night that is pruned meanwhile', async () => {
    const root = await tempFolder();
    await runNight(root, 0, few);
    await runNight(root, 1, outside);
    const warnings: string[] = [];
    let isDone = false;
    const files: Disk = {
      ...localDisk,
      link: async (from, to) => {
        const linked = await localDisk.link(from, to);
        if (!isDone && to.includes('/lake/creators/metadata/v')) {
          isDone = true;
          await prune(root, 1);
        }
        return linked;
      },
    };
    const listener = (event: { kind: string; message?: string }) =>
      event.kind === 'warning' && warnings.push(event.message ?? '');
    const outcome = await runNight(root, 2, { ...few, context: { files, listener } });
    expect(outcome.error).toBeUndefined();
    expect(warnings).toContainEqual(expect.stringContaining('was removed while it was published'));
    await requireNights(root, [0, 2]);
  }, 60_000);
});

describe('a rebuild', () => {
  it.each(sampled(['changes', 'creators', 'assets'], 3))(
    'has a night that is published meanwhile, after %s',
    async (table) => {
      const root = await tempFolder();
      await runNight(root, 0, few);
      const lake = lakeWith(root, table, () => runNight(root, 1, few));
      expect((await rebuildLake(lake, rebuilt)).published).toEqual([dayOf(0), dayOf(1)]);
      await requireNights(root, [0, 1]);
    },
    60_000,
  );

  it.each(sampled(['changes', 'assets'], 2))(
    'leaves out a night that is pruned meanwhile, after %s',
    async (table) => {
      const root = await tempFolder();
      for (const day of [0, 1]) await runNight(root, day, few);
      expect(
        (
          await rebuildLake(
            lakeWith(root, table, () => prune(root, 0)),
            rebuilt,
          )
        ).published,
      ).toEqual([dayOf(1)]);
      await requireNights(root, [1]);
    },
    60_000,
  );
});
