import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { assetIds, exportNight, fewColumns, firstNight, secondNight } from '../warehouse/diff/two-nights.ts';
import { sampled } from '../../model/support/sample.ts';

const renamed = (to: string) => ({ rename: `burnt=${to}`, format: 'parquet', columns: fewColumns });
const ids = assetIds.slice(140, 160);
const wayOut = 'Give the column another name in the job (output.rename)';

function tried(...words: string[]) {
  return runHere(words);
}

describe('a job that renames a column', () => {
  it.each(sampled(['reason', 'changed_at', 'Op'], 3))('to %s has no diff: exit 2 with the way out', async (to) => {
    const from = await exportNight({ record: firstNight, ids, flags: renamed(to) });
    const newer = await exportNight({ record: secondNight, ids, flags: renamed(to) });
    const refused = await tried('diff', from, newer, '--out', join(await tempFolder(), 'diff'));
    expect(refused.exit, refused.stderr).toBe(2);
    expect(refused.stderr).toContain(`has the column ${to}, and the table changes adds a column of this name`);
    expect(refused.stderr).toContain(wayOut);
    expect((await tried('diff', from, newer)).exit).toBe(0);
  });

  it.each(sampled(['valid_from', 'valid_to'], 2))('to %s has no versions: exit 2 with the way out', async (to) => {
    const night = await exportNight({ record: firstNight, ids, flags: renamed(to) });
    const database = `duckdb:${join(await tempFolder(), 'a.duckdb')}`;
    const refused = await tried('load', night, '--to', database, '--mode', 'scd2');
    expect(refused.exit, refused.stderr).toBe(2);
    expect(refused.stderr).toContain(`has the column ${to}, and --mode scd2 adds a column of this name`);
    expect(refused.stderr).toContain(wayOut);
    expect((await tried('load', night, '--to', database)).exit).toBe(0);
  });

  it('to deleted_at is loaded, and not marked: exit 2', async () => {
    const flags = renamed('deleted_at');
    const [from, newer] = [
      await exportNight({ record: firstNight, ids, flags }),
      await exportNight({ record: secondNight, ids, flags }),
    ];
    const out = join(await tempFolder(), 'diff');
    expect((await tried('diff', from, newer, '--out', out)).exit).toBe(0);
    const to = ['--to', `duckdb:${join(await tempFolder(), 'a.duckdb')}`, '--max-deletes', '10%'];
    expect((await tried('load', from, ...to)).exit).toBe(0);
    const refused = await tried('load', out, ...to, '--deletes', 'mark');
    expect(refused.exit, refused.stderr).toBe(2);
    expect(refused.stderr).toContain('output.rename');
    const merged = await tried('load', out, ...to);
    expect(merged.exit, merged.stderr).toBe(0);
  });
});
