import { statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { loadJob } from '../../src/job/load-job.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { unputtableParts } from '../../src/operations/bucket-limits.ts';
import { diskEstimate } from '../../src/operations/disk-estimate.ts';
import { startService } from '../../src/service/start-service.ts';
import { runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const data = fileURLToPath(new URL('../../data', import.meta.url));

it.each([
  { format: 'parquet', tables: 'assets' },
  { format: 'csv,jsonl', tables: 'assets,creators,authorities,grouping,collections,files,attributes' },
  { format: 'raw,csv', tables: 'assets', compression: 'csv=gzip' },
])('the disk that a plan tells is within a third of what $format takes', async (chosen) => {
  const folder = await tempFolder();
  const assets = join(data, 'assets.jsonl.gz');
  const service = await startService({ assets: [assets], host: '127.0.0.1', port: 0, clock: systemClock });
  const flags = {
    ...{ ...chosen, ids: join(data, 'ids.txt'), url: service.url, out: join(folder, 'out') },
    ...{ 'show-fungible': true, 'show-collection-metadata': true },
  };
  const outcome = await runExport({ flags });
  await service.close();
  const { job } = loadJob({ flags, environment: {}, folder });
  const real = outcome.account.files
    .filter(({ table }) => table !== 'unexported')
    .reduce((sum, { path }) => sum + statSync(join(folder, 'out', path)).size, 0);
  const told = diskEstimate(job, outcome.account.counts.exported);
  expect(told / real).toBeGreaterThan(2 / 3);
  expect(told / real).toBeLessThan(3 / 2);
});

it.each([
  ['s3://bucket/x', 'jsonl', 'usage'],
  ['s3://bucket/x', 'parquet', undefined],
  ['/folder', 'jsonl', undefined],
])('3,000,000 ids a part in %s as %s: %s', (out, format, exit) => {
  const flags = { ids: 'ids.txt', url: 'http://127.0.0.1:9', out, format, 'rows-per-part': '3000000' };
  expect(unputtableParts(loadJob({ flags, environment: {}, folder: '/' }).job)?.exit).toBe(exit);
});
