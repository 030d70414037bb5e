import { chmod, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import { checkLake, lakeFollower, publishAll, rebuildLake } from '../../../src/wings/lake/index.ts';
import { LakeTable } from '../../../src/wings/lake/lake-table.ts';
import { currentSnapshot, nightOf } from '../../../src/wings/lake/table-metadata.ts';
import { lossesOf, nightsAt, planPruning, pruneFollowed } from '../../../src/wings/nights/index.ts';
import { runWings } from '../../../src/world/wings.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { dayOf, folderOf, openRoot, runNight } from './support/lake-root.ts';

const few = { flags: { tables: 'assets,creators' } };
const clock = { now: () => Date.UTC(2026, 10, 25) };

async function nightsOf(root: string): Promise<readonly string[]> {
  return (await checkLake(openRoot(root))).tables.at(-1)?.nights ?? [];
}

async function prune(root: string, files: Disk = localDisk) {
  const place = inFolder(files, root);
  const nights = await nightsAt(place, clock);
  const pruning = await planPruning(nights, { last: 1, daily: 0, weekly: 0, monthly: 0 }, { today: '2026-12-31' });
  const losses = await lossesOf({ place, clock }, pruning, runWings);
  const run = () => pruneFollowed({ place, clock }, { place: nights, pruning }, runWings);
  return { losses, run };
}

describe('a job with output.lake', () => {
  it('publishes first, in order, the complete nights that are missing', async () => {
    const root = await tempFolder();
    await runNight(root, 0, few);
    await runNight(root, 1, { flags: { ...few.flags, lake: 'none' } });
    expect(await nightsOf(root)).toEqual([dayOf(0)]);
    await runNight(root, 2, few);
    expect(await nightsOf(root)).toEqual([dayOf(0), dayOf(1), dayOf(2)]);
  });

  it('publishes nothing after exit 3, and says so; lake --publish adds the night', async () => {
    const root = await tempFolder();
    await runNight(root, 0, few);
    const strict = {
      ...few,
      ids: ['11111111111111111111111111111111'],
      flags: { ...few.flags, base: 'none', 'max-missing': '0' },
    };
    const outcome = await runNight(root, 1, strict);
    expect(outcome.lake).toBeUndefined();
    expect(await nightsOf(root)).toEqual([dayOf(0)]);
    expect((await publishAll(openRoot(root), undefined)).published).toEqual([dayOf(1)]);
    expect(await nightsOf(root)).toEqual([dayOf(0), dayOf(1)]);
  });

  it('leaves a complete export where the lake cannot be written, and the same run publishes it', async () => {
    const root = await tempFolder();
    const withoutLinks: Disk = {
      ...localDisk,
      link: async (from, to) => (to.includes('/lake/') ? 'refused' : localDisk.link(from, to)),
    };
    const same = { ...few, idFile: join(await tempFolder(), 'ids.txt') };
    expect(await runNight(root, 0, { ...same, context: { files: withoutLinks } })).toMatchObject({
      state: 'complete',
      account: { counts: { exported: 90 } },
      error: {
        exit: 'cannotWrite',
        message: expect.stringMatching(/is complete, not in the lake: .* the disk has no hard links/) as string,
      },
    });
    const again = await runNight(root, 0, same);
    expect(again).toMatchObject({ state: 'already', sent: 0 });
    expect(await nightsOf(root)).toEqual([dayOf(0)]);
  });

  it('refuses a table whose newest snapshot another program wrote, and a rebuild takes it back', async () => {
    const root = await tempFolder();
    await runNight(root, 0, few);
    const path = join(root, 'lake/assets/metadata/v1.metadata.json');
    const metadata = JSON.parse(await readFile(path, 'utf8')) as { snapshots: Record<string, unknown>[] };
    const [own = {}] = metadata.snapshots;
    const foreign = { ...own, 'snapshot-id': 7, 'sequence-number': 2, summary: { operation: 'append' } };
    const changed = { ...metadata, 'last-sequence-number': 2, snapshots: [own, foreign] };
    await writeFile(join(root, 'lake/assets/metadata/v2.metadata.json'), JSON.stringify(changed));
    expect(await runNight(root, 1, few)).toMatchObject({
      state: 'complete',
      error: { exit: 'usage', todo: expect.stringContaining(`asset-export lake ${root} --rebuild --yes`) as unknown },
    });
    expect((await checkLake(openRoot(root))).problems).toHaveLength(1);
    await rebuildLake(openRoot(root), { location: undefined, isDone: true });
    expect((await checkLake(openRoot(root))).problems).toEqual([]);
    expect(await nightsOf(root)).toEqual([dayOf(0), dayOf(1)]);
  });

  it('takes a published night out before run --fresh throws it away', async () => {
    const root = await tempFolder();
    await runNight(root, 0, few);
    await runNight(root, 1, few);
    const refused = { ...few, fresh: true, ids: [], flags: { ...few.flags, 'max-missing': '0' } };
    await runNight(root, 1, refused);
    expect(await nightsOf(root)).toEqual([dayOf(0)]);
    expect((await checkLake(openRoot(root))).problems).toEqual([]);
  });
});

describe('prune beside a lake', () => {
  it('says what the lake would lose, then takes the nights out of it', async () => {
    const root = await tempFolder();
    for (const day of [0, 1, 2]) await runNight(root, day, few);
    const { losses, run } = await prune(root);
    expect(losses).toEqual({ nights: [dayOf(0), dayOf(1)], tables: ['creators', 'assets'] });
    await run();
    const checked = await checkLake(openRoot(root));
    expect(checked.problems).toEqual([]);
    expect(checked.tables.map(({ nights }) => nights)).toEqual([[dayOf(2)], [dayOf(2)]]);
    const left = await readdir(join(root, 'lake/assets/metadata'));
    expect(left.filter((name) => name.includes(dayOf(0)))).toEqual([]);
  });

  it('removes no night where the lake cannot be written', async () => {
    const root = await tempFolder();
    for (const day of [0, 1]) await runNight(root, day, few);
    const broken: Disk = { ...localDisk, link: async () => 'refused' };
    const { run } = await prune(root, broken);
    await expect(run()).rejects.toMatchObject({ exit: 'cannotWrite' });
    expect(await nightsOf(root)).toEqual([dayOf(0), dayOf(1)]);
    expect((await checkLake(openRoot(root))).problems).toEqual([]);
  });
});

describe('a root that was moved', () => {
  it('is not whole until its addresses are written anew', async () => {
    const root = await tempFolder();
    await runNight(root, 0, few);
    const before = await new LakeTable(openRoot(root), 'assets').newest();
    const moved = join(await tempFolder(), 'moved');
    await rename(root, moved);
    const [problem, ...others] = (await checkLake(openRoot(moved))).problems;
    expect(problem?.fix).toBe(`asset-export lake ${moved} --rebuild --yes`);
    expect(others).toEqual([]);
    await expect(publishAll(openRoot(moved), undefined)).rejects.toMatchObject({ exit: 'damaged' });
    await rebuildLake(openRoot(moved), { location: undefined, isDone: true });
    expect((await checkLake(openRoot(moved))).problems).toEqual([]);
    const after = await new LakeTable(openRoot(moved), 'assets').newest();
    expect(after?.metadata['table-uuid']).toBe(before?.metadata['table-uuid']);
    expect(after?.metadata['current-snapshot-id']).toBe(before?.metadata['current-snapshot-id']);
  });
});

describe('the check of a lake', () => {
  it('names a file that is gone, one of another size, and a night that is gone', async () => {
    const root = await tempFolder();
    for (const day of [0, 1]) await runNight(root, day, few);
    const [gone, longer] = [0, 1].map((part) => join(folderOf(root, 1), `parquet/assets/part-0000${part}.parquet`));
    await rm(gone ?? '');
    await chmod(longer ?? '', 0o644);
    await writeFile(longer ?? '', 'x', { flag: 'a' });
    const { problems } = await checkLake(openRoot(root));
    expect(problems.map(({ problem }) => problem)).toEqual([
      expect.stringContaining('part-00000.parquet does not exist'),
      expect.stringContaining('bytes, not'),
    ]);
    expect(problems[0]?.fix).toContain('verify');
    await rm(folderOf(root, 0), { recursive: true });
    const after = await checkLake(openRoot(root));
    expect(after.problems.some(({ problem }) => problem.includes(`${dayOf(0)}: there is no complete export`))).toBe(
      true,
    );
  });

  it('has no part in the repair of a night that is not published', async () => {
    const root = await tempFolder();
    for (const day of [0, 1]) await runNight(root, day, few);
    await runNight(root, 1, {
      ...few,
      fresh: true,
      flags: { ...few.flags, lake: 'none', base: 'none', format: 'parquet,csv' },
    });
    const place = inFolder(localDisk, root);
    await lakeFollower.repaired({ place, clock }, `date=${dayOf(1)}`);
    expect(await nightsOf(root)).toEqual([dayOf(0)]);
    await publishAll(openRoot(root), undefined);
    const newest = await new LakeTable(openRoot(root), 'assets').newest();
    const current = newest && currentSnapshot(newest.metadata);
    expect(current && nightOf(current)?.night).toBe(dayOf(1));
  });
});
