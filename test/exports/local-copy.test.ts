import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startOfExport } from '../../src/core/run/record/run-record.ts';
import { onCopy } from '../../src/exports/local-copy.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { madeExport } from '../wings/report/made-export.ts';
import { tempFolder } from '../support/temp-folder.ts';

const startIn = (folder: string) => startOfExport(localDisk, folder, {});

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
      return [...inner, existsSync(join(outer, 'manifest.json')), await startIn(outer)];
    });
    expect(seen.slice(0, 4)).toEqual([true, false, 2, true]);
    // Who reads a copy knows when the export began, too.
    expect(seen[4]).toBeGreaterThan(0);
    expect(seen[4]).toBe(await startIn(folder));
    expect(readdirSync(copies)).toEqual([]);
  });
});
