import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { onCopy } from '../../src/exports/copy-export.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { madeExport } from '../wings/report/made-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('a local copy of an export', () => {
  it('is gone after the work, and so are those of processes that died', async () => {
    const cwd = await tempFolder();
    const folder = await madeExport({ cwd });
    const copies = join(cwd, 'scratch/copies');
    mkdirSync(join(copies, 'of-a-dead-process/export'), { recursive: true });
    writeFileSync(join(copies, 'of-a-dead-process/export/part'), 'rest');
    const copy = { from: localDisk, folder, disk: localDisk, copies };
    const seen = await onCopy(copy, async (outer) => {
      const inner = await onCopy(copy, async (second) => [
        existsSync(outer),
        second === outer,
        readdirSync(copies).length,
      ]);
      return [...inner, existsSync(join(outer, 'manifest.json'))];
    });
    expect(seen).toEqual([true, false, 2, true]);
    expect(readdirSync(copies)).toEqual([]);
  });
});
