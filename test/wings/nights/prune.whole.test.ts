import { createHash } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bucketNights } from '../../../src/wings/nights/bucket-nights.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { folderNights } from '../../../src/wings/nights/folder-nights.ts';
import { type NightsPlace, planPruning, prune } from '../../../src/wings/nights/prune-exports.ts';
import { contentSeal, type NewManifest, manifestBytes } from '../../../src/places/export/manifest.ts';
import { noCounts, noNotes } from '../../../src/places/export/export-facts.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { takeLock } from '../../../src/places/files/lock.ts';
import { failingAt } from '../../model/support/failing-weather.ts';
import { Killed, MemoryDisk, type Operation } from '../../model/support/memory-disk.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const top = '/exports/nightly';
const rules = { last: 2, daily: 0, weekly: 0, monthly: 0 };
const day = { today: '2026-12-31' };

function manifestOf(night: string): NewManifest {
  const sha256 = createHash('sha256').update(night).digest('hex');
  const files = ['csv/assets/part-00000.csv', 'unexported/part-00000.csv'].map((path) => ({
    path,
    format: 'csv',
    table: path.split('/').at(-2) ?? '',
    part: 0,
    rows: 1,
    bytes: night.length,
    sha256,
    first: 1,
    last: 1,
  }));
  return {
    program: { name: 'asset-export', version: '0' },
    job: {},
    inputs: [],
    counts: noCounts,
    calls: 0,
    credits: 0,
    parts: 1,
    tables: {},
    files,
    drift: [],
    notes: noNotes,
    commits: [],
  };
}

async function put(disk: MemoryDisk, path: string, bytes: Uint8Array): Promise<void> {
  await disk.files.makeFolder(path.slice(0, path.lastIndexOf('/')));
  const file = await disk.files.open(path, 'create');
  await file.write(bytes);
  await file.sync();
  await file.close();
  await disk.files.syncFolder(path.slice(0, path.lastIndexOf('/')));
}

const days = ['2026-11-18', '2026-11-19', '2026-11-20', '2026-11-21'];

/** Four nights, an unfinished fifth, and things that are no exports. */
async function nightsOnDisk(begun = '{}'): Promise<MemoryDisk> {
  const disk = new MemoryDisk();
  for (const day of days) {
    const folder = `${top}/date=${day}`;
    const manifest = manifestOf(day);
    for (const { path } of manifest.files) await put(disk, `${folder}/${path}`, Buffer.from(day));
    await put(disk, `${folder}/manifest.json`, manifestBytes(manifest));
  }
  await put(disk, `${top}/date=2026-11-22/.run/start.json`, Buffer.from(begun));
  await put(disk, `${top}/mine/notes.txt`, Buffer.from('mine'));
  await put(disk, `${top}/ids.txt`, Buffer.from('mine'));
  return disk;
}

function namesOn(disk: MemoryDisk): Promise<string[]> {
  return disk.files.list(top);
}

async function pruned(disk: MemoryDisk, last = 2): Promise<void> {
  const place = folderNights(disk.files, top);
  await prune(place, await planPruning(place, { ...rules, last }, day));
}

describe('prune', () => {
  it('keeps what a rule keeps and what is never removed, and says why', async () => {
    const disk = await nightsOnDisk();
    const plan = await planPruning(folderNights(disk.files, top), { ...rules, last: 1 }, day);
    expect(plan.kept).toEqual([
      { name: 'date=2026-11-21', reasons: ['newest', 'last 1 of 1'] },
      { name: 'date=2026-11-22', reasons: ['unfinished'] },
    ]);
    expect(plan.removed.map(({ name }) => name)).toEqual(['date=2026-11-18', 'date=2026-11-19', 'date=2026-11-20']);
    expect(await namesOn(disk)).toContain('date=2026-11-18');
  });

  it('removes the others, and no stranger', async () => {
    const disk = await nightsOnDisk();
    await pruned(disk);
    expect(await namesOn(disk)).toEqual(['date=2026-11-20', 'date=2026-11-21', 'date=2026-11-22', 'ids.txt', 'mine']);
  });

  it('keeps what latest names', async () => {
    const disk = await nightsOnDisk();
    await disk.files.makeLink(`${top}/latest`, 'date=2026-11-18');
    const { kept } = await planPruning(folderNights(disk.files, top), rules, day);
    expect(kept).toContainEqual({ name: 'date=2026-11-18', reasons: ['latest'] });
  });

  // Promise, Nothing misread: `prune` never removes the base of an unfinished export, `latest`, or folders with other files
  it('keeps the base that an unfinished export has pinned', async () => {
    const disk = await nightsOnDisk(`{"base.seal":"${contentSeal(manifestOf('2026-11-18'))}"}`);
    const { kept } = await planPruning(folderNights(disk.files, top), rules, day);
    expect(kept).toContainEqual({ name: 'date=2026-11-18', reasons: ['base of an unfinished export'] });
  });

  it('keeps an export with a file of somebody else in it, and one whose manifest is damaged', async () => {
    const disk = await nightsOnDisk();
    await put(disk, `${top}/date=2026-11-18/notes.txt`, Buffer.from('mine'));
    await put(disk, `${top}/date=2026-11-19/_SUCCESS`, Buffer.from(''));
    await put(disk, `${top}/date=2026-11-20/manifest.json`, Buffer.from('{}'));
    await pruned(disk, 1);
    const left = await namesOn(disk);
    expect(left).toContain('date=2026-11-18');
    expect(left).not.toContain('date=2026-11-19');
    expect(left).toContain('date=2026-11-20');
  });

  it('does not touch an export that a run has taken', async () => {
    const folder = await tempFolder();
    for (const day of days) {
      await mkdir(join(folder, day, '.run'), { recursive: true });
      await writeFile(join(folder, day, 'manifest.json'), manifestBytes({ ...manifestOf(day), files: [] }));
    }
    const place = folderNights(localDisk, folder);
    const plan = await planPruning(place, rules, day);
    const lock = await takeLock(join(folder, '2026-11-18'));
    expect((await planPruning(place, rules, day)).kept[0]).toEqual({
      name: '2026-11-18',
      reasons: ['locked by a run'],
    });
    await expect(prune(place, plan)).rejects.toMatchObject({ exit: 'locked' });
    expect(await readdir(join(folder, '2026-11-18'))).toContain('manifest.json');
    await lock.release();
    await prune(place, plan);
    expect(await readdir(folder)).toEqual(['2026-11-20', '2026-11-21']);
  });

  it.each([{}, { last: 0 }])('refuses to work without a rule', async (given) => {
    const place = folderNights((await nightsOnDisk()).files, top);
    const asked = { last: 0, daily: 0, weekly: 0, monthly: 0, ...given };
    await expect(planPruning(place, asked, day)).rejects.toMatchObject({ exit: 'usage' });
  });

  it('refuses a folder that is an export itself', async () => {
    const disk = await nightsOnDisk();
    const place = folderNights(disk.files, `${top}/date=2026-11-18`);
    await expect(planPruning(place, rules, day)).rejects.toThrow('is an export');
  });

  it('finds exports whose date stands within their path, and takes their empty folders away', async () => {
    const disk = new MemoryDisk();
    for (const day of days) {
      await put(disk, `${top}/date=${day}/assets/manifest.json`, manifestBytes(manifestOf(day)));
    }
    await pruned(disk);
    expect(await namesOn(disk)).toEqual(['date=2026-11-20', 'date=2026-11-21']);
  });
});

/** Every export on the disk that has a manifest has all its files. */
async function halves(disk: MemoryDisk): Promise<string[]> {
  const wrong: string[] = [];
  for (const day of days) {
    const folder = `${top}/date=${day}`;
    if ((await disk.files.readAll(`${folder}/manifest.json`)) === undefined) continue;
    for (const { path } of manifestOf(day).files) {
      if ((await disk.files.readAll(`${folder}/${path}`)) === undefined) wrong.push(`${folder}/${path}`);
    }
  }
  return wrong;
}

describe('a prune that is killed at any operation', () => {
  const expected = ['date=2026-11-20', 'date=2026-11-21', 'date=2026-11-22', 'ids.txt', 'mine'];

  it.each([
    [
      'by a kill',
      (disk: MemoryDisk) => {
        disk.restart();
      },
    ],
    [
      'by a loss of power',
      (disk: MemoryDisk) => {
        disk.restartAfterPowerLoss(() => false);
      },
    ],
    // Promise, Nothing misread: A killed `prune` leaves no half export with a manifest; a second one finishes
  ])('leaves no half export, and a second one finishes it: %s', async (_how, restart) => {
    const operations: Operation[] = [];
    const calm = await nightsOnDisk();
    calm.weather = (operation) => {
      operations.push(operation);
      return { kind: 'happens' };
    };
    await pruned(calm);
    expect(operations.length).toBeGreaterThan(50);
    for (const n of operations.keys()) {
      const disk = await nightsOnDisk();
      disk.weather = failingAt(n, () => ({ kind: 'dies' }));
      await pruned(disk).catch((error: unknown) => {
        if (!(error instanceof Killed)) throw error;
      });
      restart(disk);
      expect(await halves(disk), `operation ${n}`).toEqual([]);
      // What a kill has left to be synced, a loss of power may bring back under its hidden name.
      for (const loss of [false, true]) {
        if (loss) disk.restartAfterPowerLoss(() => false);
        await pruned(disk);
        expect(await namesOn(disk), `operation ${n}: ${operations[n]?.kind ?? ''}`).toEqual(expected);
      }
    }
  });
});

describe('in a bucket', () => {
  async function nightsInBucket() {
    const objects = new MemoryObjects();
    const store = objects.open();
    for (const day of days) {
      const manifest = manifestOf(day);
      for (const { path } of manifest.files) await store.put(`date=${day}/${path}`, { bytes: Buffer.from(day) });
      await store.put(`date=${day}/manifest.json`, { bytes: manifestBytes(manifest) });
    }
    await store.put('date=2026-11-22/.run/start.json', { bytes: Buffer.from('{}') });
    await store.put('mine/notes.txt', { bytes: Buffer.from('mine') });
    await store.put('latest.json', { bytes: Buffer.from('{"latest":"date=2026-11-19"}') });
    return objects;
  }
  const at = (objects: MemoryObjects, weather?: Parameters<MemoryObjects['open']>[0]): NightsPlace =>
    bucketNights(objects.open(weather), 's3://bucket/nightly', systemClock);
  const left = (objects: MemoryObjects): string[] => [
    ...new Set([...objects.objects.keys()].map((name) => name.split('/')[0] ?? '')),
  ];

  it('keeps and removes the same, and is finished after a kill at any request', async () => {
    const expected = [
      'date=2026-11-19',
      'date=2026-11-20',
      'date=2026-11-21',
      'date=2026-11-22',
      'latest.json',
      'mine',
    ];
    let requests = 0;
    const calm = await nightsInBucket();
    const counted = at(calm, (_operation, when) => {
      if (when === 'before') requests += 1;
    });
    await prune(counted, await planPruning(counted, rules, day));
    expect(left(calm).sort()).toEqual(expected);
    for (let n = 0; n < requests; n += 1) {
      const objects = await nightsInBucket();
      let count = 0;
      const place = at(objects, (_operation, when) => {
        if (when === 'before' && count++ >= n) throw new Killed();
      });
      await planPruning(place, rules, day)
        .then((plan) => prune(place, plan))
        .catch((error: unknown) => {
          if (!(error instanceof Killed)) throw error;
        });
      const again = at(objects);
      await prune(again, await planPruning(again, rules, day));
      expect(left(objects).sort(), `request ${n}`).toEqual(expected);
    }
  });
});
