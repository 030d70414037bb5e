import { describe, expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { jobOn } from '../../../src/core/job/job-schema.ts';
import type { ExportAccount } from '../../../src/core/run/complete-export.ts';
import { dayMs } from '../../../src/lib/clock.ts';
import { exportPaths } from '../../../src/places/export/export-folder.ts';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import { manifestBytes } from '../../../src/places/export/manifest.ts';
import { sliceNames } from '../../../src/places/log/slice-log.ts';
import { storeWithin } from '../../../src/places/objects/object-store.ts';
import { keepNights } from '../../../src/wings/nights/after-night.ts';
import { foldersOf } from '../../../src/wings/nights/base/open-base.ts';
import { unfinishedBefore } from '../../../src/wings/nights/dated-exports.ts';
import { folderNights } from '../../../src/wings/nights/folder-nights.ts';
import { bucketNights } from '../../../src/wings/nights/bucket-nights.ts';
import { pointLatest, requireLatestFree } from '../../../src/wings/nights/point-latest.ts';
import { planPruning } from '../../../src/wings/nights/prune-exports.ts';
import { nights as wing } from '../../../src/wings/nights/index.ts';
import { MemoryDisk } from '../../model/support/memory-disk.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';

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

const now = Date.UTC(2026, 10, 22, 2);
const clock = { now: () => now, monotonic: () => now, sleep: () => Promise.resolve() };
const context = { clock, random: () => 0 };

/** A root in a folder or in a bucket: where it is, how exports are put into it, and which there are. */
const roots = {
  folder: () => {
    const disk = new MemoryDisk();
    const put = async (path: string, bytes: Uint8Array): Promise<void> => {
      await disk.files.makeFolder(`/out/${path}`.replace(/\/[^/]*$/, ''));
      const file = await disk.files.open(`/out/${path}`, 'create');
      await file.write(bytes);
      await file.close();
    };
    const isThere = async (name: string): Promise<boolean> =>
      (await disk.files.sizeOf(`/out/${name}/${exportPaths.manifest}`)) !== undefined;
    const latest = (): Promise<string | undefined> => disk.files.readLink('/out/latest');
    return { top: '/out', put, isThere, latest, place: folderNights(disk.files, '/out'), files: disk.files };
  },
  bucket: () => {
    const objects = new MemoryObjects();
    const store = storeWithin(objects.open(), 'out');
    const put = async (path: string, bytes: Uint8Array): Promise<void> => {
      await store.put(path, { bytes });
    };
    const isThere = async (name: string): Promise<boolean> =>
      (await store.look(`${name}/${exportPaths.manifest}`)) !== undefined;
    const latest = async (): Promise<string | undefined> => {
      const text = Buffer.from(objects.objects.get('out/latest.json')?.bytes ?? []).toString();
      return text === '' ? undefined : (JSON.parse(text) as { latest: string }).latest;
    };
    const openStore = async ({ address }: { readonly address: string }) =>
      storeWithin(objects.open(), address.replace('s3://bucket/', ''));
    const place = bucketNights(store, 's3://bucket/out', clock);
    return { top: 's3://bucket/out', put, isThere, latest, place, files: new MemoryDisk().files, openStore };
  },
};

/** How jobs below one root name their nights. */
const families = [
  '{date}/nfts',
  '{date}/tokens',
  'nfts-{date}',
  'tokens-{date}',
  'collection=a/date={date}',
  'collection=b/date={date}',
  'collection=c/date={date}',
  'date={date}',
  'date={date}-manual',
];
const days = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21', '2026-11-22'];
const on = (pattern: string, day: string): string => pattern.replaceAll('{date}', day);

async function filled(open: () => ReturnType<(typeof roots)['folder' | 'bucket']>, names: readonly string[]) {
  const root = open();
  for (const name of names) await root.put(`${name}/${exportPaths.manifest}`, manifest);
  const jobOf = (pattern: string, latest = false) =>
    loadJob({
      flags: { ids: '/ids.txt', url: 'https://service.example', out: `${root.top}/${pattern}`, latest },
      environment: {},
      folder: '/',
    }).job;
  const left = async (): Promise<string[]> => {
    const found = await Promise.all(names.map(async (name) => ((await root.isThere(name)) ? [name] : [])));
    return found.flat();
  };
  return { ...root, jobOf, left };
}

const account = { counts: { ...noCounts, read: 1, exported: 1 } } as ExportAccount;

describe.each(Object.entries(roots))('jobs below one root in a %s', (_where, open) => {
  const all = families.flatMap((pattern) => days.map((day) => on(pattern, day)));

  it.each(families)('output.keep of %s removes nights of its own, as plan says', async (pattern) => {
    const coming = on(pattern, '2026-11-22');
    const before = all.filter((name) => name !== coming);
    const root = await filled(open, before);
    const keep = { last: 2, daily: 0, weekly: 0, monthly: 0 };
    const { output, ...rest } = root.jobOf(pattern);
    const job = jobOn({ ...rest, output: { ...output, keep } }, '2026-11-22');
    const night = { job, account, outputDir: output.dir };
    const own = days.slice(0, 3).map((day) => on(pattern, day));
    const planned = await wing.removable({ job, outputDir: output.dir }, undefined, { ...context, ...root });
    expect(planned).toEqual(own.map((name) => name.replace(/^collection=.*\//, '')));
    await root.put(`${coming}/${exportPaths.manifest}`, manifest);
    await keepNights(night, { ...context, ...root });
    expect(await root.left()).toEqual(before.filter((name) => !own.includes(name)));
  });

  it('prune by hand counts each family apart', async () => {
    const root = await filled(open, all);
    const rules = { last: 3, daily: 0, weekly: 0, monthly: 0 };
    const { removed } = await planPruning(root.place, rules, { today: '2026-11-22' });
    const expected = families.flatMap((pattern) => days.slice(0, 2).map((day) => on(pattern, day)));
    expect(removed.map(({ name }) => name)).toEqual(expected.sort());
  });

  it('a night dated after today counts for no rule, is not removed, and is named', async () => {
    const root = await filled(open, [...days, '2027-11-22']);
    const rules = { last: 1, daily: 0, weekly: 0, monthly: 0 };
    const { kept, removed } = await planPruning(root.place, rules, { today: '2026-11-22' });
    expect(kept).toEqual([
      { name: '2026-11-22', reasons: ['newest', 'last 1 of 1'] },
      { name: '2027-11-22', reasons: ['dated after today'] },
    ]);
    expect(removed).toHaveLength(4);
  });

  it('latest leaves a night dated after today, never a night before, and is not shared by two jobs', async () => {
    const root = await filled(open, ['nfts-2026-11-19']);
    const at = { ...context, ...root };
    const point = (day: string) => pointLatest(root.jobOf(`nfts-${day}`, true), at);
    await point('2027-11-22');
    await point('2026-11-22');
    expect(await root.latest()).toBe('nfts-2026-11-22');
    await point('2026-11-20');
    expect(await root.latest()).toBe('nfts-2026-11-22');
    const other = root.jobOf('tokens-2026-11-22', true);
    await expect(requireLatestFree(other, at)).rejects.toThrow(
      /names nfts-2026-11-22, which is not a night of this job/,
    );
    await expect(pointLatest(other, at)).rejects.toMatchObject({ exit: 'usage' });
    expect(await root.latest()).toBe('nfts-2026-11-22');
  });

  it.each(families)('the unfinished night that %s finishes first is its own', async (pattern) => {
    const others = families.filter((each) => each !== pattern);
    const root = await filled(open, []);
    const start = Buffer.from('{}');
    for (const other of others) await root.put(`${on(other, '2026-11-21')}/${exportPaths.start}`, start);
    const job = root.jobOf(pattern);
    expect(await unfinishedBefore(root, job, '2026-11-22')).toBeUndefined();
    await root.put(`${on(pattern, '2026-11-20')}/${exportPaths.start}`, start);
    const dir = `${root.top}/${on(pattern, '2026-11-20')}`;
    expect((await unfinishedBefore(root, job, '2026-11-22'))?.output.dir).toBe(dir);
  });
});

it.each([
  [0, 'locked by a run'],
  [59_000, 'locked by a run'],
  [365 * dayMs, 'unfinished'],
  [-365 * dayMs, 'unfinished'],
])('a heartbeat %i ms ahead: %s', async (aheadMs, reason) => {
  const { put, place } = roots.bucket();
  const beat = { slice: 0, scratch: '/s', host: 'h', pid: 1, deadAfterSeconds: 60, beat: 1, calls: 0, credits: 0 };
  await put(`2026-11-22/${exportPaths.start}`, Buffer.from('{}'));
  await put(
    `2026-11-22/${sliceNames.alive('a'.repeat(32))}`,
    Buffer.from(JSON.stringify({ ...beat, atMs: now + aheadMs })),
  );
  expect((await place.survey()).untouched).toEqual([{ name: '2026-11-22', reason }]);
});

it('a base that a glob of several jobs finds is a night of the same job, of any hour', async () => {
  const { files, put } = roots.folder();
  const names = ['nfts-2026-11-20', 'nfts-2026-11-21T06', 'coins-2026-11-21', 'first'];
  for (const name of names) await put(`${name}/${exportPaths.manifest}`, manifest);
  const found = await foldersOf(async () => files, '/out/*', '/out/nfts-2026-11-22');
  expect(found.folders).toEqual(['/out/nfts-2026-11-21T06', '/out/nfts-2026-11-20']);
});

it('a clock that went back in the run removes no night more', async () => {
  const root = await filled(roots.folder, days);
  const { output, ...rest } = root.jobOf('{date}');
  const keep = { last: 2, daily: 0, weekly: 0, monthly: 0 };
  const job = jobOn({ ...rest, output: { ...output, keep } }, '2026-11-22');
  const back = { ...context, ...root, clock: { ...clock, now: () => now - 365 * dayMs } };
  await keepNights({ job, account, outputDir: output.dir }, back);
  expect(await root.left()).toEqual(days.slice(3));
});
