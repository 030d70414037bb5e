import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type CreditLedger, createMemoryLedger } from '../../../src/core/client/ledger/credit-ledger.ts';
import { ExportError } from '../../../src/lib/export-error.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

// Promise, Nothing overspent: A ledger that fails with the last answer ends the run with its error
it('a ledger that fails as the last answer arrives ends the run with its error, and the answer is kept', async () => {
  const folder = await tempFolder();
  await writeIdFile(join(folder, 'ids.txt'), { entries: 20 });
  const service = await startGeneratedService();
  const flags = { ids: join(folder, 'ids.txt'), url: service.url, out: join(folder, 'out'), format: 'csv' };
  const failure = new ExportError('cannotWrite', 'The credit ledger cannot be read or written: EIO.');
  const ledger: CreditLedger = { ...createMemoryLedger(), settle: () => Promise.reject(failure) };
  expect(await runExport({ flags, context: { ledger } })).toMatchObject({ state: 'unfinished', error: failure });
  expect(await runExport({ flags })).toMatchObject({ state: 'complete', callsOfRun: 0 });
  expect(service.counts().calls).toBe(1);
  await service.stop();
});
