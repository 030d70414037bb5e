import { afterAll, describe, expect, it } from 'vitest';
import { runWings } from '../../../src/world/wings.ts';
import { prepareInputs } from '../../../src/core/ids/prepare-inputs.ts';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { dayMs, systemClock } from '../../../src/lib/clock.ts';
import { bucketNights } from '../../../src/wings/nights/bucket-nights.ts';
import { planExport } from '../../../src/core/run/plan-export.ts';
import { openSource, rebuildExport, rebuiltJob } from '../../../src/wings/repair/rebuild/rebuild-export.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { bucketFiles } from '../../../src/places/export/bucket-files.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { firstNight, night } from '../../support/nights.ts';
import { exportBytes, runExport } from '../../support/run-export.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ids = Array.from({ length: 130 }, (_, n) => generatedId(4, n));
const older = ids.slice(0, 110).map(generatedRecord);
const newer = ids
  .map(generatedRecord)
  .map((record, n) => (n % 7 === 0 ? record.replace('"burnt":false', '"burnt":true') : record));
const flags = { format: 'csv,parquet', tables: 'assets,creators,changes', 'max-age': '2d', 'base-credits': '640' };

/** Two nights; the second one has stale rows, carried ones, new ids and one that is not listed any more. */
const first = { day: 0, records: older, ids: ids.slice(0, 110) };
const second = { day: 2, records: newer, ids: ids.slice(1) };

const kept = await keptFolder();
afterAll(() => kept.remove());
let made: ReturnType<typeof makeInFolders> | undefined;

/** The two nights in folders, made once: tests read them. */
const inFolders = () => (made ??= makeInFolders(kept.path));

async function makeInFolders(top: string) {
  const [firstIds, idFile] = [join(top, 'first.txt'), join(top, 'ids.txt')];
  const [base, out] = [join(top, 'date=2026-11-20'), join(top, 'date=2026-11-22')];
  await night({ ...first, idFile: firstIds, out: base, flags: { ...flags, base: 'none' } });
  const outcome = await night({ ...second, idFile, out, flags: { ...flags, base } });
  const tables = Object.entries(exportBytes(out)).filter(([path]) => path !== 'manifest.json');
  return { base, firstIds, idFile, tables, credits: outcome.account.credits };
}

const nights = 's3://bucket/nights';

/** The ids of the second night as a file, for several runs. */
async function secondIds(): Promise<string> {
  const path = join(await tempFolder(), 'ids.txt');
  writeFileSync(path, `${second.ids.join('\n')}\n`);
  return path;
}

/** Runs nights in a bucket on a disk. */
async function inBucket() {
  const buckets = new MemoryBuckets();
  const { openStore } = buckets;
  const context = { openStore };
  const scratch = await tempFolder();
  const more = { scratch, 'entries-per-slice': '50' };
  const firstIn = (out: string, idFile?: string) =>
    night({
      ...first,
      ...(idFile === undefined ? {} : { idFile }),
      out,
      context,
      flags: { ...flags, ...more, base: 'none' },
    });
  return { buckets, openStore, context, more, firstIn };
}

describe('an export with a base in a bucket', () => {
  it('finds its base among the nights there, is planned to the call and has the bytes of one in a folder', async () => {
    const wanted = await inFolders();
    const { buckets, openStore, context, more, firstIn } = await inBucket();
    await firstIn(`${nights}/date=2026-11-20`);
    // One that is not complete, and one of a later day, are no bases.
    await (await openStore({ address: `${nights}/date=2026-11-21` })).putNew('.run/start.json', { bytes: Buffer.of() });
    await (await openStore({ address: `${nights}/date=2026-11-23` })).putNew('manifest.json', { bytes: Buffer.of() });
    const out = `${nights}/date=2026-11-22`;
    const based = { ...flags, ...more, base: `${nights}/date=*` };
    const idsFile = await secondIds();
    const sizes = { 'rows-per-part': '40', 'ids-per-call': '20' };
    const { job, idsFolder } = loadJob({
      flags: { ids: idsFile, url: 'http://127.0.0.1:9', out, ...sizes, ...based },
      environment: {},
      folder: '/',
    });
    const prepared = await prepareInputs({ job, idsFolder, files: localDisk, stdin: nothing(), folder: idsFolder });
    const clock = { ...systemClock, now: () => firstNight + 2 * dayMs };
    const plan = await planExport({ ...runWings, job, prepared, files: localDisk, openStore, clock });
    const outcome = await night({ ...second, idFile: wanted.idFile, out, context, flags: based });
    expect(outcome).toMatchObject({ state: 'complete', account: { credits: plan.credits } });
    expect(plan).toMatchObject({ credits: wanted.credits, base: { folder: `${nights}/date=2026-11-20` } });
    expect(Object.entries(buckets.tableBytes(out))).toEqual(wanted.tables);
    expect(buckets.names(out).filter((name) => name.startsWith('.run/'))).toEqual([]);
  });

  it('whose credits end is finished on another disk, and pays for nothing twice', async () => {
    const wanted = await inFolders();
    const { buckets, context, more, openStore, firstIn } = await inBucket();
    const base = `${nights}/date=2026-11-20`;
    await firstIn(base);
    const out = `${nights}/date=2026-11-22`;
    const based = { ...flags, ...more, base, ids: wanted.idFile };
    const stopped = await night({ ...second, out, context, flags: { ...based, 'credits-per-run': '480' } });
    expect(stopped).toMatchObject({ state: 'unfinished', callsOfRun: 3, error: { exit: 'spent' } });
    // What it requested lies in it, and is no night of its own.
    const survey = await bucketNights(await openStore({ address: nights }), nights, systemClock).survey();
    expect(survey.untouched).toEqual([{ name: 'date=2026-11-22', reason: 'unfinished' }]);
    expect(
      survey.complete.map(({ name, seals }) => [
        name,
        survey.begun.some((text) => seals.some((seal) => text.includes(seal))),
      ]),
    ).toEqual([['date=2026-11-20', true]]);
    const last = await night({ ...second, out, context, flags: { ...based, scratch: await tempFolder() } });
    expect(last).toMatchObject({ state: 'complete', account: { credits: wanted.credits } });
    expect((stopped.callsOfRun + last.callsOfRun) * 160).toBe(wanted.credits);
    expect(Object.entries(buckets.tableBytes(out))).toEqual(wanted.tables);
  });

  it('may have its base in a folder, and one in a folder its base in a bucket', async () => {
    const wanted = await inFolders();
    const { buckets, context, more, firstIn } = await inBucket();
    const out = `${nights}/date=2026-11-22`;
    const again = { ...second, idFile: wanted.idFile };
    await night({ ...again, out, context, flags: { ...flags, ...more, base: wanted.base } });
    expect(Object.entries(buckets.tableBytes(out))).toEqual(wanted.tables);
    const base = 's3://bucket/elsewhere/date=2026-11-20';
    await firstIn(base);
    const folder = join(await tempFolder(), 'date=2026-11-22');
    await night({ ...again, out: folder, context, flags: { ...flags, base: 's3://bucket/elsewhere/date=*' } });
    expect(Object.entries(exportBytes(folder)).filter(([path]) => path !== 'manifest.json')).toEqual(wanted.tables);
  });

  it('is thrown away with all that it requested', async () => {
    const { buckets, context, more, firstIn } = await inBucket();
    const base = `${nights}/date=2026-11-20`;
    await firstIn(base);
    const out = `${nights}/date=2026-11-22`;
    const based = { ...flags, ...more, base, ids: await secondIds() };
    await night({ ...second, out, context, flags: { ...based, 'credits-per-run': '480' } });
    expect(buckets.names(out).some((name) => name.startsWith('.run/asked/'))).toBe(true);
    const fresh = await night({ ...second, out, context, fresh: true, flags: { ...based, 'credits-per-run': '160' } });
    expect(fresh).toMatchObject({ state: 'unfinished', account: { calls: 1 } });
  });

  it('whose base is gone, or is none, is refused before anything is sent', async () => {
    const { context, more } = await inBucket();
    for (const base of [`${nights}/date=*`, `${nights}/date=2026-11-19`]) {
      const based = { ...flags, ...more, base };
      await expect(night({ ...second, out: `${nights}/date=2026-11-22`, context, flags: based })).rejects.toMatchObject(
        {
          exit: 'input',
        },
      );
    }
  });
});

describe('a rebuild', () => {
  it('into a bucket, and from one, has the bytes of one in a folder', async () => {
    const { base: source, firstIds } = await inFolders();
    const { buckets, context, more, firstIn, openStore } = await inBucket();
    const rebuild = async (from: string, to: string) => {
      const files = from.startsWith('s3:') ? bucketFiles(await openStore({ address: from }), from) : localDisk;
      const opened = await openSource(from, files);
      const job = rebuiltJob(opened, to, { formats: ['jsonl'], tables: ['assets', 'creators'], scratch: more.scratch });
      const outcome = await runExport({
        flags: { ids: '/dev/null', url: 'http://127.0.0.1:9', out: to },
        context,
        make: (_, all) => rebuildExport({ source: opened, job, join: 2, fresh: false }, all),
      });
      expect(outcome.state).toBe('complete');
    };
    const folder = join(await tempFolder(), 'rebuilt');
    await rebuild(source, folder);
    const wanted = Object.entries(exportBytes(folder)).filter(([path]) => path !== 'manifest.json');
    await rebuild(source, 's3://bucket/rebuilt');
    expect(Object.entries(buckets.tableBytes('s3://bucket/rebuilt'))).toEqual(wanted);
    await firstIn('s3://bucket/source', firstIds);
    const back = join(await tempFolder(), 'back');
    await rebuild('s3://bucket/source', back);
    expect(Object.entries(exportBytes(back)).filter(([path]) => path !== 'manifest.json')).toEqual(wanted);
  });
});

async function* nothing(): AsyncGenerator<Uint8Array, void, void> {
  // Nothing is piped in.
}
