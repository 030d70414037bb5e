import { inFolder } from '../../../src/core/run/homes/export-place.ts';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { statusAt } from '../../../src/wings/status/export-status.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { idEntries } from '../../support/id-file.ts';
import { runExport } from '../../support/run-export.ts';
import { startGeneratedService } from '../../support/service/generated-service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const entries = idEntries({ entries: 1346 });

/**
 * The status of an export of a list that is read at once, whose run stopped in its first block of 1,024 entries: after 320
 * of them, and at most 20 batches of ten were read ahead.
 */
async function stopped(name: string, bytes: string | Uint8Array) {
  const folder = await tempFolder();
  const service = await startGeneratedService();
  onTestFinished(() => service.stop());
  const out = join(folder, 'out');
  await writeFile(join(folder, name), bytes);
  const { error } = await runExport({
    flags: {
      ids: [join(folder, name)],
      url: service.url,
      out,
      format: 'csv',
      threads: '1',
      concurrency: '1',
      'ids-per-call': '10',
      'rows-per-part': '160',
      'credits-per-run': '5120',
    },
  });
  expect(error?.exit).toBe('spent');
  return statusAt(inFolder(localDisk, out), Date.now());
}

describe('of a stopped run whose list was read ahead', () => {
  it.each([
    ['ids.txt', `${entries.join('\n')}\n`],
    ['ids.txt.gz', gzipSync(`${entries.join('\n')}\n`)],
    ['ids.json', JSON.stringify(entries)],
  ])('the total of %s is an estimate near the truth', async (name, bytes) => {
    const { total, totalExact, counts, inputShare } = await stopped(name, bytes);
    expect(totalExact).toBe(false);
    expect(Math.abs((total ?? 0) - 1346)).toBeLessThan(15);
    // Of the committed parts.
    expect(inputShare).toBeCloseTo(counts.read / 1346, 1);
  });

  it('the total is not exact either where one entry has no line feed yet', async () => {
    const { total, totalExact } = await stopped('ids.txt', entries.slice(0, 1025).join('\n'));
    expect(totalExact).toBe(false);
    expect(total).toBe(1025);
  });

  it('the total is exact once all entries are read', async () => {
    expect(await stopped('ids.txt', entries.slice(0, 900).join('\n'))).toMatchObject({ total: 900, totalExact: true });
  });
});
