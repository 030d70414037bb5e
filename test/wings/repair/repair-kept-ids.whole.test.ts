import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { repairExport } from '../../../src/wings/repair/repair-export.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { exportBytes, fileBytes, noBytes, runExport, runRepair } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/** A finished export of six parts, of ids in two files. */
async function finished(more: Readonly<Record<string, string>> = {}) {
  const folder = await tempFolder();
  const files = ['one.txt', 'two.txt'].map((name) => join(folder, name));
  await writeIdFile(files[0] ?? '', { entries: 100, invalidPercent: 3, duplicatePercent: 3 });
  await writeIdFile(files[1] ?? '', { entries: 160, invalidPercent: 3, duplicatePercent: 3 });
  const service = await startGeneratedService({ missingPercent: 5 });
  onTestFinished(() => service.stop());
  const out = join(folder, 'out');
  const flags = { ids: files, out, url: service.url };
  const shape = { 'ids-per-call': '20', 'rows-per-part': '45', format: 'csv' };
  await runExport({ flags: { ...flags, ...shape, ...more } });
  return { out, files, flags, service, calls: service.counts().calls };
}

/** How the lists may be when the export is repaired. */
const changes: Readonly<Record<string, (files: readonly string[]) => void>> = {
  replaced: ([first = '']) => {
    writeFileSync(first, 'DPUoUJaTSV2mo5eWXvHmPnMkTXDYUUaUiMhFWjaVpump\n');
  },
  gone: (files) => {
    for (const file of files) rmSync(file);
  },
};

describe('a repair of an export whose id files changed', () => {
  // Promise, Nothing lost: If id files changed, a repair requests the kept ids, for the same bytes
  it.each(Object.keys(changes))('requests the ids that the export keeps: %s', async (change) => {
    const { out, files, flags } = await finished();
    const whole = fileBytes(out);
    changes[change]?.(files);
    for (const part of [1, 2]) rmSync(join(out, `csv/assets/part-0000${part}.csv`));
    truncateSync(join(out, 'unexported/part-00002.csv'), 30);
    const shown = await runRepair({ flags, pays: false });
    expect(shown.notes).toEqual(['The id files changed or are gone: the ids are read from ids/ in the export.']);
    const paid = await runRepair({ flags });
    expect(paid).toMatchObject({ parts: [1, 2], bill: shown.bill, ...shown.bill, after: { damage: [] } });
    expect(fileBytes(out)).toEqual(whole);
  });

  it('rebuilds a list of ids that were not exported without a job', async () => {
    const { out, service, calls } = await finished();
    const whole = exportBytes(out);
    rmSync(join(out, 'unexported/part-00002.csv'));
    const outcome = await repairExport({ folder: out }, { files: localDisk, stdin: noBytes() });
    expect(outcome).toMatchObject({ rebuilt: ['unexported/part-00002.csv'], notes: [], after: { damage: [] } });
    expect(exportBytes(out)).toEqual(whole);
    expect(service.counts().calls).toBe(calls);
  });

  it('rebuilds the kept ids from the lists, for no credits', async () => {
    const { out, flags, service, calls } = await finished();
    const whole = exportBytes(out);
    rmSync(join(out, 'ids'), { recursive: true });
    const outcome = await runRepair({ flags, pays: false });
    expect(outcome.bill).toBeUndefined();
    expect(exportBytes(out)).toEqual(whole);
    expect(service.counts().calls).toBe(calls);
  });

  it('says what is needed where the kept ids are damaged too', async () => {
    const { out, files, flags } = await finished();
    changes['replaced']?.(files);
    rmSync(join(out, 'csv/assets/part-00001.csv'));
    truncateSync(join(out, 'ids/part-00000.csv.gz'), 40);
    await expect(runRepair({ flags })).rejects.toMatchObject({
      exit: 'input',
      todo: expect.stringContaining(files[0] ?? '') as unknown,
    });
  });
});
