import { readdirSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadJob } from '../../../src/core/job/load-job.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { prepareInputs } from '../../../src/core/ids/prepare-inputs.ts';
import type { ExportOutcome } from '../../../src/core/run/complete-export.ts';
import { planExport } from '../../../src/core/run/plan-export.ts';
import { diskEstimate, diskNeeds, unputtableParts } from '../../../src/core/run/disk-estimate.ts';
import { startService } from '../../../src/practice-service.ts';
import { localDisk, type Disk } from '../../../src/places/files/disk.ts';
import type { RunEvent } from '../../../src/core/work/run-events.ts';
import { sampled } from '../../model/support/sample.ts';
import { idEntries, writeIdFile } from '../../support/id-file.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { noBytes, runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const data = fileURLToPath(new URL('../../../data', import.meta.url));

it.each(
  sampled(
    [
      { format: 'parquet', tables: 'assets' },
      { format: 'csv,jsonl', tables: 'assets,creators,authorities,grouping,collections,files,attributes' },
      { format: 'raw,csv', tables: 'assets', compression: 'csv=gzip' },
    ],
    3,
  ),
)('the disk that a plan tells is within a third of what $format takes', async (chosen) => {
  const folder = await tempFolder();
  const assets = join(data, 'assets.jsonl.gz');
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  const flags = {
    ...chosen,
    ids: join(data, 'ids.txt'),
    url: service.url,
    out: join(folder, 'out'),
    'show-fungible': true,
    'show-collection-metadata': true,
  };
  const outcome = await runExport({ flags });
  await service.close();
  const { job } = loadJob({ flags, environment: {}, folder });
  const real = outcome.account.files.reduce((sum, { path }) => sum + statSync(join(folder, 'out', path)).size, 0);
  const told = diskEstimate(job, countsOf(outcome));
  expect(told / real).toBeGreaterThan(2 / 3);
  expect(told / real).toBeLessThan(3 / 2);
});

/** Entries, and those of them that were requested. */
function countsOf({ account: { counts } }: ExportOutcome): { readonly entries: number; readonly assets: number } {
  return { entries: counts.read, assets: counts.exported + counts.missing + counts.failed };
}

// Promise, Nothing misread: `plan` and a starting run know the most that the disk has to hold (sampled)
it('the disk of a list with many repeated and invalid ids is about as planned', async () => {
  const folder = await tempFolder();
  const ids = join(folder, 'ids.txt');
  const valid = idEntries({ entries: 200 });
  await writeFile(ids, [...valid, ...Array.from({ length: 15 }, () => valid).flat(), ...invalidTexts(1000)].join('\n'));
  const service = await startGeneratedService();
  const flags = { ids, url: service.url, out: join(folder, 'out'), format: 'parquet', 'max-invalid': '100%' };
  const loaded = loadJob({ flags, environment: {}, folder });
  const stdin = noBytes();
  const prepared = await prepareInputs({ ...loaded, files: localDisk, folder, stdin });
  const plan = await planExport({ job: loaded.job, prepared, files: localDisk });
  const { account } = await runExport({ flags });
  await service.stop();
  expect(account.counts).toMatchObject({ read: 4200, exported: 200, duplicate: 3000, invalid: 1000 });
  const real = bytesBelow(join(folder, 'out'));
  expect(plan.diskBytes / real).toBeGreaterThan(0.8);
  expect(plan.diskBytes / real).toBeLessThan(1.25);
});

function invalidTexts(texts: number): string[] {
  return idEntries({ entries: texts, seed: 2 }).map((id) => `${id.slice(1)}0`);
}

it.each([
  ['s3://bucket/x', 'jsonl', 'usage'],
  ['s3://bucket/x', 'parquet', undefined],
  ['/folder', 'jsonl', undefined],
])('3,000,000 ids a part in %s as %s: %s', (out, format, exit) => {
  const flags = { ids: 'ids.txt', url: 'http://127.0.0.1:9', out, format, 'rows-per-part': '3000000' };
  expect(unputtableParts(loadJob({ flags, environment: {}, folder: '/' }).job)?.exit).toBe(exit);
});

/** Bytes below a folder now. */
function bytesBelow(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) sum += statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false })?.size ?? 0;
  return sum;
}

/** Runs an export, and looks at its disk whenever a file of it was written. */
async function peakOf(
  flags: Readonly<Record<string, unknown>>,
): Promise<{ real: number; needs: ReturnType<typeof diskNeeds> }> {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 2000 });
  const all = { ids: join(folder, 'ids.txt'), url: service.url, threads: '1', ...flags };
  const night = { ...all, out: join(folder, 'out') };
  let real = 0;
  const look = (): void => {
    real = Math.max(real, bytesBelow(join(folder, 'out')));
  };
  const files: Disk = {
    ...localDisk,
    open: async (path, mode) => {
      const open = await localDisk.open(path, mode);
      const close = async (): Promise<void> => {
        look();
        await open.close();
      };
      return { ...open, close };
    },
  };
  const { job } = loadJob({ flags: night, environment: {}, folder });
  const outcome = await runExport({ flags: night, context: { files } });
  await service.stop();
  return { real, needs: diskNeeds(job, countsOf(outcome)) };
}

it.each(
  sampled(
    [
      ['csv', '100000'],
      ['csv', '100'],
      ['jsonl', '100000'],
      ['parquet', '100000'],
      ['csv,jsonl,raw', '100000'],
    ] as const,
    3,
  ),
)('the peak of an export as %s, in parts of %s ids, is about as planned', async (format, rowsPerPart) => {
  const { real, needs } = await peakOf({ format, 'rows-per-part': rowsPerPart, 'ids-per-call': '100' });
  expect(needs.peak / real).toBeGreaterThan(0.75);
  expect(needs.peak / real).toBeLessThan(rowsPerPart === '100' ? 1.6 : 1.25);
});

it('a run warns at its start when the peak does not fit, and plan too', async () => {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 100 });
  const flags = { ids: join(folder, 'ids.txt'), url: service.url, out: join(folder, 'out'), format: 'csv' };
  const warningsWith = async (free: number): Promise<string[]> => {
    const warnings: string[] = [];
    const listener = (event: RunEvent): void => {
      if (event.kind === 'warning') warnings.push(event.message);
    };
    const outcome = await runExport({ flags, fresh: true, context: { listener, freeSpace: async () => free } });
    expect(outcome.state).toBe('complete');
    return warnings;
  };
  const warning = /^the export needs up to about 3\d\d kB of disk while it runs, and 300 kB are free in .*out$/;
  expect(await warningsWith(1e9)).toEqual([]);
  expect(await warningsWith(300_000)).toEqual([expect.stringMatching(warning)]);
  await service.stop();
});
