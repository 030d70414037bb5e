import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { RunEvent } from '../../../src/core/work/run-events.ts';
import { idEntries } from '../../support/id-file.ts';
import { MemoryBuckets } from '../../support/memory-buckets.ts';
import { runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** What each run says of the export that it opens. */
async function openings(inBucket: boolean, runs: readonly Readonly<Record<string, string>>[]) {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const buckets = new MemoryBuckets();
  const opened: unknown[] = [];
  for (const [n, { ids = '60', out = 'b', base, ...more }] of runs.entries()) {
    const list = join(folder, `ids-${ids}.txt`);
    await writeFile(list, `${idEntries({ entries: Number(ids) }).join('\n')}\n`);
    const addressOf = (name: string): string => (inBucket ? `s3://bucket/${name}` : join(folder, name));
    const flags = {
      ids: [list],
      url: service.url,
      format: 'csv',
      threads: '1',
      'ids-per-call': '10',
      'rows-per-part': '60',
      out: addressOf(out),
      base: base === undefined ? 'none' : addressOf(base),
      ...more,
      ...(inBucket ? { scratch: join(folder, `scratch-${n}`) } : {}),
    };
    const listener = (event: RunEvent): void => {
      if (event.kind === 'opened') opened.push(event.isResumed);
    };
    await runExport({ flags, context: { listener, openStore: buckets.openStore } });
  }
  return opened;
}

it.each([false, true])(
  'an export that an earlier run began is resumed, before its first part too (in a bucket: %s)',
  async (inBucket) => {
    expect(await openings(inBucket, [{ 'credits-per-run': '160' }, { 'credits-per-run': '160' }, {}])).toEqual([
      false,
      true,
      true,
    ]);
  },
);

it('a night that stopped while it requested its ids is resumed', async () => {
  const night = { ids: '90', base: 'a' };
  expect(await openings(false, [{ out: 'a' }, { ...night, 'credits-per-run': '160' }, night])).toEqual([false, true]);
});
