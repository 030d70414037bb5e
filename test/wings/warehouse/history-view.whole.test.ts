import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { diffExports } from '../../../src/wings/warehouse/diff/diff-exports.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { historyView } from '../../../src/wings/warehouse/history-view.ts';
import { exportNight, firstNight, secondNight } from './diff/two-nights.ts';
import { queryDuckdb } from '../../support/query-duckdb.ts';
import { tempFolder } from '../../support/temp-folder.ts';

it('the view of all nights has every version of every asset, with the days between which it held', async () => {
  const top = await tempFolder();
  const from = await exportNight({ record: firstNight, out: join(top, 'date=2026-11-20') });
  const to = await exportNight({ record: secondNight, out: join(top, 'date=2026-11-21') });
  const out = join(await tempFolder(), 'diff');
  const { counts } = await diffExports({
    files: diskFileStore,
    from,
    to,
    out,
    memoryBytes: 300e6,
    ignored: [],
    version: '0',
  });
  // An export with a base writes the table itself.
  await cp(join(out, 'parquet/changes'), join(to, 'parquet/changes'), { recursive: true });
  const view = historyView(join(top, 'date=*'));
  const columns = (await queryDuckdb(`${view} DESCRIBE asset_history`)).map(([name]) => name);
  expect(columns).not.toContain('changed_at');
  const count = async (where: string) =>
    Number((await queryDuckdb(`${view} SELECT count(*) FROM asset_history WHERE ${where}`))[0]?.[0]);
  expect(await count(`valid_from = '2026-11-20'`)).toBe(200);
  expect(await count(`valid_to = '2026-11-21'`)).toBe(counts.updated + counts.deleted);
  expect(await count(`valid_to IS NULL`)).toBe(counts.unchanged + counts.updated + counts.inserted);
  expect(await count(`valid_from = '2026-11-21'`)).toBe(counts.updated + counts.inserted);
});
