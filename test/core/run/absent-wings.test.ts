import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runExport } from '../../support/run-export.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('a job that needs what its program left out', () => {
  it.each([
    ['base.from', { base: 'none' }],
    ['output.latest', { latest: true }],
    ['{date} in output.dir', { out: 'nights/{date}' }],
  ])('ends with exit 2 and names %s', async (name, flags) => {
    const out = join(await tempFolder(), 'export');
    const run = runExport({
      flags: { ids: 'ids.txt', url: 'http://127.0.0.1:1', out, ...flags },
      context: { nights: undefined },
    });
    await expect(run).rejects.toMatchObject({
      exit: 'usage',
      message: `${name} needs nights, which this program left out`,
    });
  });

  it('ends with exit 2 before anything begins where it wants a report', async () => {
    const out = join(await tempFolder(), 'export');
    const flags = { ids: 'ids.txt', url: 'http://127.0.0.1:1', out, report: true };
    await expect(runExport({ flags, context: { report: undefined } })).rejects.toMatchObject({
      exit: 'usage',
      message: 'output.report needs reports, which this program left out',
    });
  });
});
