import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { generatedId, generatedRecord } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { night } from '../../support/nights.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = Array.from({ length: 40 }, (_, n) => generatedId(4, n));
const older = ids.map(generatedRecord);
const newer = older.map((record, n) => (n % 5 === 0 ? record.replace('"burnt":false', '"burnt":true') : record));

/** Loads two nights with these tables into one database. */
async function loadNights(first: string, second: string, mode: 'merge' | 'scd2'): Promise<void> {
  const top = await tempFolder();
  const [base, next] = [join(top, 'first'), join(top, 'second')];
  await night({ day: 0, records: older, ids, out: base, flags: { base: 'none', tables: first } });
  const flags = { base, 'max-age': '1d', tables: `${second},changes` };
  await night({ day: 1, records: newer, ids, out: next, flags });
  const target = parseTarget(`duckdb:${join(top, 'db')}`, '/');
  for (const folder of [base, next])
    await loadExport({ files: diskFileStore, folder, kind: 'duckdb', mode, prefix: 'x_' }, target);
}

it.each(['merge', 'scd2'] as const)('%s refuses a night whose child tables are others', async (mode) => {
  const lost = loadNights('assets,creators,files', 'assets,creators', mode);
  await expect(lost).rejects.toMatchObject({ exit: 'usage' });
  await expect(lost).rejects.toThrow('the table x_files holds first, but');
  const found = loadNights('assets', 'assets,creators', mode);
  await expect(found).rejects.toMatchObject({ exit: 'usage' });
  await expect(found).rejects.toThrow('has the table creators, but the table x_creators was not loaded from first');
  await loadNights('assets,creators', 'assets,creators', mode);
});
