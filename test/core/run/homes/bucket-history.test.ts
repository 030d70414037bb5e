import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { putHistory } from '../../../../src/core/run/homes/shared-history.ts';
import { sliceNames } from '../../../../src/places/log/slice-log.ts';
import { exportPaths } from '../../../../src/places/export/export-folder.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import { MemoryObjects } from '../../../support/memory-objects.ts';
import { tempFolder } from '../../../support/temp-folder.ts';

it('leaves no record of runs behind that comes when the export is complete', async () => {
  const scratch = await tempFolder();
  await mkdir(join(scratch, exportPaths.run));
  await writeFile(join(scratch, exportPaths.runLines), '');
  const bucket = new MemoryObjects();
  const place = { files: localDisk, store: bucket.open(), scratch };
  const records = () => [...bucket.objects.keys()].filter((name) => name.startsWith(sliceNames.records));
  await putHistory(place);
  expect(records()).toHaveLength(1);
  await place.store.remove(records());
  await place.store.putNew(exportPaths.keptRunLines, { bytes: Buffer.of() });
  await putHistory(place);
  expect(records()).toEqual([]);
});
