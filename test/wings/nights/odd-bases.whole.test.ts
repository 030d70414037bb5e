import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFinished } from '../../../src/exports/finished-export.ts';
import { type Clock, systemClock } from '../../../src/lib/clock.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import type { Job } from '../../../src/core/job/job-schema.ts';
import { intolerable } from '../../../src/core/run/tolerance.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { faultsSchema } from '../../../packages/practice-service/src/faults/fault-schema.ts';
import { bucketFiles } from '../../../src/places/export/bucket-files.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { readManifest } from '../../../src/places/export/manifest.ts';
import { foldersOf } from '../../../src/wings/nights/base/open-base.ts';
import { firstNight, night } from '../../support/nights.ts';
import { exportBytes } from '../../support/run-export.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 60 }, (_, n) => generatedId(4, n));
const records = ids.slice(5).map(generatedRecord);

interface Nights {
  readonly first?: Readonly<Record<string, unknown>>;
  readonly firstDay?: number;
}

/** A first night, and what makes others on it. */
async function nights({ first = {}, firstDay = 0 }: Nights = {}) {
  const base = join(await tempFolder(), 'date=2026-11-20');
  await night({ day: firstDay, records, ids, out: base, flags: { format: 'csv', ...first, base: 'none' } });
  const next = async (day: number, flags: Readonly<Record<string, unknown>> = {}) => {
    const out = join(await tempFolder(), 'out');
    return { out, ...(await night({ day, records, ids, out, flags: { format: 'csv', base, ...flags } })) };
  };
  return { base, next };
}

/** How many rows were requested on each day. */
function daysOf(folder: string): Readonly<Record<string, number>> {
  const days: Record<string, number> = {};
  for (const part of [0, 1]) {
    const text = readFileSync(join(folder, `csv/assets/part-0000${part}.csv`), 'utf8');
    for (const [, day = ''] of text.matchAll(/,(\d{4}-\d\d-\d\d)[T ]\S*$/gm)) days[day] = (days[day] ?? 0) + 1;
  }
  return days;
}

describe('a base that is damaged', () => {
  it.each([
    [
      'changed',
      (path: string) => {
        writeFileSync(path, readFileSync(path, 'utf8').replace(',missing,', ',invalid,'));
      },
    ],
    [
      'missing',
      (path: string) => {
        rmSync(path);
      },
    ],
  ])('where it lists what was not exported: a file is %s', async (how, spoil) => {
    const { base, next } = await nights();
    spoil(join(base, 'unexported/part-00000.csv'));
    const outcome = await next(1);
    expect(outcome).toMatchObject({ sent: 0, error: { exit: 'damaged' } });
    expect(outcome.error?.message).toContain(how);
  });
});

describe('the time of a carried row', () => {
  it('is its own, though the clock went back since, and no row with a time in the future counts as fresh', async () => {
    const { next } = await nights({ firstDay: 3 });
    expect(daysOf((await next(1, { 'max-age': 'never' })).out)).toEqual({ '2026-11-23': 55 });
    expect(daysOf((await next(1)).out)).toEqual({ '2026-11-21': 55 });
  });

  it('is read from CSV that was changed for spreadsheets, where raw has the records', async () => {
    const shape = { format: 'csv,raw', 'csv-formulas': 'escape' };
    const { base } = await nights({ first: shape });
    const [second, third] = [await tempFolder(), await tempFolder()];
    await night({ day: 1, records, ids, out: second, flags: { ...shape, base } });
    await night({ day: 2, records, ids, out: third, flags: { ...shape, base: second } });
    expect(daysOf(third)).toEqual({ '2026-11-20': 55 });
    expect((await openFinished(third)).manifest.startedAtMs).toBe(firstNight + 2 * 86_400_000);
  });
});

describe('a link to a base', () => {
  it('is followed once: the export keeps to the night that it led to', async () => {
    const { base, next } = await nights();
    const link = join(await tempFolder(), 'latest');
    symlinkSync(base, link);
    expect((await next(1, { base: link })).account.base?.name).toBe(basename(base));
  });

  it('is the one that latest.json names, where it is called latest', async () => {
    const { base, next } = await nights();
    const top = join(base, '..');
    symlinkSync('date=2026-11-19', join(top, 'latest'));
    writeFileSync(join(top, 'latest.json'), JSON.stringify({ latest: basename(base) }));
    expect((await next(1, { base: join(top, 'latest') })).account.base?.name).toBe(basename(base));
  });

  it('is in a bucket what latest.json names', async () => {
    const store = await new MemoryBuckets().openStore({ address: 's3://bucket/nights' });
    await store.put('latest.json', { bytes: Buffer.from('{"latest":"date=2026-11-20"}') });
    const filesAt = async (address: string) => bucketFiles(store, address);
    const { folders } = await foldersOf(filesAt, 's3://bucket/nights/latest');
    expect(folders).toEqual(['s3://bucket/nights/date=2026-11-20']);
  });

  it('does not lead an export to itself', async () => {
    const { base } = await nights();
    const link = join(base, '..', 'latest');
    symlinkSync(basename(base), link);
    const before = exportBytes(base);
    const again = { day: 1, records, ids, out: base, fresh: true, flags: { format: 'csv', base: link } };
    await expect(night(again)).rejects.toMatchObject({ exit: 'input' });
    expect(exportBytes(base)).toEqual(before);
  });
});

it('a diff among the nights is no base', async () => {
  const { base, next } = await nights();
  const { out } = await next(1);
  const { diffExports } = await import('../../../src/wings/warehouse/diff/diff-exports.ts');
  const diff = join(base, '../date=2026-11-21');
  const request = { files: localDisk, from: base, to: out, out: diff, memoryBytes: 1e9, ignored: [], version: '0' };
  await diffExports(request);
  const third = await next(2, { base: join(base, '../date=*') });
  expect((await readManifest(localDisk, third.out))?.base?.name).toBe('date=2026-11-20');
});

it('tolerance.maxMissing counts requested ids: those that stay missing are not among them', async () => {
  const { next } = await nights();
  const { job } = loadJob({ flags: { ids: 'a', url: 'http://localhost', out: 'o' }, folder: '/' });
  const tolerating = (tolerance: Partial<Job['tolerance']>) => ({
    ...job,
    tolerance: { ...job.tolerance, ...tolerance },
  });
  const { account } = await next(1);
  expect(account.counts).toMatchObject({ exported: 0, carried: 55, missing: 5 });
  expect(intolerable(account, tolerating({ maxMissing: '1%' }))).toBeUndefined();
  const again = await next(1, { 'missing-after': '1d', 'max-age': '1d' });
  expect(intolerable(again.account, tolerating({ maxMissing: '8%' }))?.message).toContain('5 ids are missing');
  expect(intolerable(again.account, tolerating({ maxMissing: '9%' }))).toBeUndefined();
});

it('ids that fail every night never end the next one: others of their call are requested before them', async () => {
  const [first, second] = [await tempFolder(), await tempFolder()];
  const faults = faultsSchema.parse({
    faults: [{ fault: 'poison', ids: [ids[7], ids[50]], code: -32603, message: 'no luck' }],
  });
  // The search for them rests between its calls; only deadlines are slept for.
  const sleep: Clock['sleep'] = (ms, signal) => systemClock.sleep(ms < 10_000 ? 0 : ms, signal);
  const context = { clock: { ...systemClock, sleep } };
  await night({ day: 0, records, ids, out: first, faults, context, flags: { format: 'csv', base: 'none' } });
  const based = { format: 'csv', base: first };
  const outcome = await night({ day: 0, records, ids, out: second, faults, context, flags: based });
  expect(outcome).toMatchObject({ state: 'complete', account: { base: { asked: { failed: 2, stale: 18 } } } });
  expect(outcome.account.counts).toMatchObject({ exported: 18, carried: 35, failed: 2 });
});
