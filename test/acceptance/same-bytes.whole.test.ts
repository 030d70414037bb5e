import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startGeneratedService } from '../support/service/generated-service.ts';
import { writeIdFile } from '../support/id-file.ts';
import { exportBytes, fileBytes, runExport } from '../support/run-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const base = {
  'ids-per-call': '40',
  'rows-per-part': '308',
  format: 'parquet,csv,jsonl,raw',
  tables: 'assets,creators,authorities,grouping,collections,files,attributes',
  compression: 'csv=gzip,jsonl=zstd',
};

describe('the files of an export', () => {
  // Promise, Nothing lost: Bytes do not depend on concurrency, or on late, shuffled, repeated answers
  it('are the same bytes with 1 and 16 calls at once, and with shuffled, late and repeated answers', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 2000, invalidPercent: 2, duplicatePercent: 3 });
    const made = [];
    for (const { name, concurrency, service } of [
      { name: 'calm', concurrency: '1', service: {} },
      { name: 'busy', concurrency: '16', service: { jitterMs: 20 } },
      {
        name: 'odd',
        concurrency: '16',
        service: { jitterMs: 20, shuffled: true, repeatedPercent: 20, missingOmitted: true },
      },
    ]) {
      const running = await startGeneratedService({ missingPercent: 3, seed: 7, ...service });
      const out = join(folder, name);
      const outcome = await runExport({ flags: { ...base, ids, url: running.url, out, concurrency } });
      await running.stop();
      expect(outcome.state).toBe('complete');
      expect(running.counts().calls).toBe(
        Math.ceil((outcome.account.counts.exported + outcome.account.counts.missing) / 40),
      );
      made.push({ bytes: exportBytes(out), notes: outcome.account.notes });
    }
    const [calm, busy, odd] = made;
    expect(Object.keys(calm?.bytes ?? {})).toHaveLength(1 + 6 * (1 + 7 * 3 + 2));
    expect(busy?.bytes).toEqual(calm?.bytes);
    // The manifest of the odd run also tells of the records that came twice.
    expect(odd?.notes.repeatedRecords).toBeGreaterThan(40);
    expect({ ...odd?.bytes, 'manifest.json': '' }).toEqual({ ...calm?.bytes, 'manifest.json': '' });
  });

  it('of one part do not depend on how many ids a call has', async () => {
    const folder = await tempFolder();
    const ids = join(folder, 'ids.txt');
    await writeIdFile(ids, { entries: 600, invalidPercent: 2, duplicatePercent: 3 });
    const running = await startGeneratedService({ missingPercent: 3 });
    const made = [];
    for (const idsPerCall of ['400', '37']) {
      const out = join(folder, idsPerCall);
      const flags = { ...base, 'ids-per-call': idsPerCall, 'rows-per-part': '100000' };
      await runExport({ flags: { ...flags, ids, url: running.url, out } });
      made.push(fileBytes(out));
    }
    await running.stop();
    expect(made[1]).toEqual(made[0]);
  });
});
