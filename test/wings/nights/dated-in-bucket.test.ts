import { describe, expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { unfinishedBefore } from '../../../src/wings/nights/dated-exports.ts';
import { startBody } from '../../../src/core/run/homes/home-start.ts';
import { sliceNames } from '../../../src/places/log/slice-log.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { MemoryObjects } from '../../support/memory-objects.ts';
import { storeWithin } from '../../../src/places/objects/object-store.ts';
import { exportPaths } from '../../../src/places/export/export-folder.ts';

/** The nights of a bucket: by name what is in it besides a thousand files of tables. */
async function bucketWith(nights: Readonly<Record<string, 'complete' | 'begun'>>) {
  const objects = new MemoryObjects();
  const bytes = Buffer.from('{}');
  for (const [name, state] of Object.entries(nights)) {
    const night = storeWithin(objects.open(), name);
    for (let part = 0; part < 1000; part += 1) await night.put(`csv/assets-${part}.csv`, { bytes });
    if (state === 'complete') await night.put(exportPaths.manifest, { bytes });
    else await night.put(sliceNames.start, startBody({ job: {}, inputs: [], startedAtMs: 0, entriesPerSlice: 1000 }));
  }
  const listed: string[] = [];
  const openStore = async ({ address }: { readonly address: string }) =>
    storeWithin(
      objects.open(({ kind, name }, when) => {
        if (kind === 'list' && when === 'before') listed.push(name);
      }),
      address.slice('s3://bucket/'.length),
    );
  return { openStore, listed };
}

function jobAt(out: string) {
  return loadJob({ flags: { ids: 'ids.txt', url: 'http://127.0.0.1', out }, environment: {}, folder: '/' }).job;
}

describe('nights in a bucket', () => {
  it('are found by the names of their folders alone', async () => {
    const { openStore, listed } = await bucketWith({
      'lake/date=2026-11-18': 'complete',
      'lake/date=2026-11-19': 'begun',
      'lake/other': 'complete',
    });
    const job = jobAt('s3://bucket/lake/date={date}');
    const unfinished = await unfinishedBefore({ files: localDisk, openStore }, job, '2026-11-20');
    expect(unfinished?.output.dir).toBe('s3://bucket/lake/date=2026-11-19');
    expect(listed[0]).toBe('lake/');
    expect(listed.filter((name) => name === 'lake/' || name.includes('csv'))).toEqual(['lake/']);
  });

  it('are found where the day is not the last folder', async () => {
    const { openStore } = await bucketWith({ 'lake/2026-11-19/assets': 'begun', 'lake/2026-11-20/others': 'begun' });
    const job = jobAt('s3://bucket/lake/{date}/assets');
    const unfinished = await unfinishedBefore({ files: localDisk, openStore }, job, '2026-11-21');
    expect(unfinished?.output.dir).toBe('s3://bucket/lake/2026-11-19/assets');
  });
});
