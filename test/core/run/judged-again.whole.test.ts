import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { statusAt } from '../../../src/wings/status/export-status.ts';
import { type ExportPlace, inFolder as placeInFolder } from '../../../src/core/run/homes/export-place.ts';
import { readExportReport } from '../../../src/wings/report/report-export.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { bucketFiles } from '../../../src/places/export/bucket-files.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import type { ExportContext } from '../../../src/core/run/export-context.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { firstNight, night } from '../../support/nights.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 60 }, (_, n) => generatedId(4, n));
/** Of the last ten ids the service has none. */
const records = ids.slice(0, 50).map(generatedRecord);

interface Nights {
  readonly top: string;
  readonly placeOf: (out: string) => Promise<ExportPlace>;
  readonly context: Partial<ExportContext>;
}

async function inFolders(): Promise<Nights> {
  const placeOf = (folder: string): Promise<ExportPlace> => Promise.resolve(placeInFolder(localDisk, folder));
  return { top: await tempFolder(), placeOf, context: {} };
}

function inBucket(): Promise<Nights> {
  const { openStore } = new MemoryBuckets();
  const placeOf = async (folder: string): Promise<ExportPlace> => {
    const store = await openStore({ address: folder });
    return { files: bucketFiles(store, folder), folder, store };
  };
  return Promise.resolve({ top: 's3://bucket/nights', placeOf, context: { openStore } });
}

describe.each([
  { where: 'a folder', prepare: inFolders },
  { where: 'a bucket', prepare: inBucket },
])('an export in $where that is complete and judged again', ({ prepare }) => {
  async function nights() {
    const { top, placeOf, context } = await prepare();
    const folder = await tempFolder();
    const warnings: string[] = [];
    const listener: ExportContext['listener'] = (event) => {
      if (event.kind === 'warning') warnings.push(event.message);
    };
    const out = `${top}/date=2026-11-21`;
    const run = (flags: Readonly<Record<string, unknown>>, of: Partial<Parameters<typeof night>[0]> = {}) =>
      night({
        day: 1,
        records,
        ids,
        idFile: join(folder, 'ids.txt'),
        out,
        context: { ...context, listener },
        ...of,
        flags: { format: 'csv', scratch: join(folder, 'scratch'), base: 'none', ...flags },
      });
    const nowMs = firstNight;
    const seen = async () => {
      const place = await placeOf(out);
      const { exit, lastError, elapsedMs } = await statusAt(place, nowMs);
      const { state } = await readExportReport({ place, nowMs, version: '1', extent: 'none' });
      return { exit, lastError, elapsedMs, report: { exit: state.exit, error: state.error, endedMs: state.endedMs } };
    };
    return { top, out, run, seen, warnings };
  }

  it('has the new verdict in its history, in all views', async () => {
    const { run, seen } = await nights();
    await run({ 'max-missing': '0' });
    const failed = await seen();
    expect(failed).toMatchObject({ exit: 3, lastError: expect.stringContaining('10 ids are missing') as string });
    expect(failed.report).toMatchObject({ exit: 3, error: failed.lastError });
    expect((await run({ 'max-missing': '10' })).state).toBe('already');
    // The run took as long as before.
    expect(await seen()).toEqual({
      ...failed,
      exit: 0,
      lastError: null,
      report: { ...failed.report, exit: 0, error: null },
    });
  });

  it('keeps the verdict where the same command runs again: latest was not moved', async () => {
    const { run, seen } = await nights();
    await run({ 'max-missing': '0' });
    const failed = await seen();
    await run({ 'max-missing': '0' });
    expect(await seen()).toEqual(failed);
  });

  it('has the verdict of a smaller limit too', async () => {
    const { run, seen } = await nights();
    await run({ 'max-missing': '10' });
    expect(await seen()).toMatchObject({ exit: 0, lastError: null });
    await run({ 'max-missing': '0' });
    expect(await seen()).toMatchObject({ exit: 3, lastError: expect.stringContaining('10 ids are missing') as string });
  });

  it('is no longer set aside in its history', async () => {
    const { top, run, seen, warnings } = await nights();
    const first = `${top}/date=2026-11-20`;
    await run({}, { day: 0, out: first, ids: ids.slice(0, 50), idFile: join(await tempFolder(), 'first.txt') });
    const short = { ids: ids.slice(0, 20) };
    await run({ base: first }, short);
    expect(await seen()).toMatchObject({ exit: 3, lastError: expect.stringContaining('not listed now') as string });
    await run({ base: first, 'max-unlisted': '90%' }, short);
    expect(await seen()).toMatchObject({ exit: 0, lastError: null, report: { exit: 0, error: null } });
    expect(warnings.filter((warning) => warning.includes('record'))).toEqual([]);
  });
});

it('an export whose record cannot be written is judged all the same: that is a warning', async () => {
  const out = await tempFolder();
  const idFile = join(await tempFolder(), 'ids.txt');
  const warnings: string[] = [];
  const files: typeof localDisk = {
    ...localDisk,
    open: (path, how) =>
      path.endsWith('/runs.jsonl') && !path.includes('.run/')
        ? Promise.reject(new Error('read-only'))
        : localDisk.open(path, how),
  };
  const listener: ExportContext['listener'] = (event) => {
    if (event.kind === 'warning') warnings.push(event.message);
  };
  const context = { files, listener };
  const run = (missing: string) =>
    night({
      day: 0,
      records,
      ids,
      idFile,
      out,
      context,
      flags: { format: 'csv', base: 'none', 'max-missing': missing },
    });
  await run('0');
  expect((await run('10')).state).toBe('already');
  expect(warnings).toEqual(['runs.jsonl still has the old verdict, and so have status and report: read-only']);
});
