import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { draftOf } from '../../../packages/practice-service/src/generated/asset-draft.ts';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { readRows } from '../../../src/exports/finished-export.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { serveGenerated } from '../../../src/practice-service.ts';
import { runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

// 100,000 in all.
it.each([15, 16, 17, 18])(
  'of 25,000 records (seed %i), of which one in 1,000 has an owner that its leaf does not have, exactly these are false',
  async (seed) => {
    const [folder, out] = [await tempFolder(), await tempFolder()];
    const ids: string[] = [];
    for (let n = 0; ids.length < 25_000; n += 1) {
      const id = generatedId(seed, n);
      if (draftOf(id).compressed) ids.push(id);
    }
    const wrong = ids.filter((_, at) => at % 1000 === 123);
    await writeFile(join(folder, 'ids.txt'), ids.join('\n'));
    const faults = { faults: [{ fault: 'unproven', ids: wrong }] };
    const service = await serveGenerated(0, { host: '127.0.0.1', port: 0, clock: systemClock, faults });
    try {
      const flags = { ids: join(folder, 'ids.txt'), url: service.url, out, proofs: true, format: 'jsonl' };
      const { account } = await runExport({ flags });
      expect(account.proofs).toEqual({ checked: 25_000, unproven: 25, creators: 0, metadata: 0, leaf: 25 });
    } finally {
      await service.close();
    }
    const found: unknown[] = [];
    for await (const row of readRows({ files: localDisk, folder: out, table: 'assets' }))
      if (row['leaf_agrees'] === false) found.push(row['id']);
    expect(found).toEqual(wrong);
  },
);
