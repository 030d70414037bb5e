import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { allIds, loseTables, newer, repairCounted, twoNights } from '../repair/based-nights.ts';
import { queryDuckdb, sqlText } from '../../support/query-duckdb.ts';

async function load(database: string, folder: string, mode: 'replace' | 'scd2'): Promise<void> {
  const request = { files: diskFileStore, folder, kind: 'duckdb', mode, maxDeletes: '10%' } as const;
  await loadExport(request, parseTarget(`duckdb:${database}`, '/'), () => undefined);
}

/** The rows as text; in a table that takes changes, the times of a row that did not change are those of an earlier night. */
async function rowsOf(database: string, where = ''): Promise<string[]> {
  const from = `ATTACH ${sqlText(database)} AS here (READ_ONLY);`;
  const columns = where === '' ? 'fetched_at' : 'fetched_at, valid_from, valid_to';
  const children = where === '' ? '*' : '* EXCLUDE (valid_from, valid_to)';
  const assets = await queryDuckdb(`${from} SELECT * EXCLUDE (${columns}) FROM here.assets ${where}`);
  const creators = await queryDuckdb(`${from} SELECT ${children} FROM here.creators ${where}`);
  return [...assets, ...creators].map((row) => row.map(String).join('|')).sort();
}

it.each(['replace', 'scd2'] as const)(
  'an export that was repaired without its base is loaded on top of it with --mode %s: the tables are those of the whole export',
  async (mode) => {
    const [gone = ''] = allIds.slice(60);
    const now = newer.map((record) => record.replace('"frozen":false', '"frozen":true'));
    const { top, base, out, where } = await twoNights(
      {},
      now.filter((record) => !record.includes(gone)),
    );
    const [changed, whole] = [join(top, 'changed.duckdb'), join(top, 'whole.duckdb')];
    await load(changed, base, mode);
    rmSync(base, { recursive: true });
    loseTables(out, 1);
    loseTables(out, 3, ['assets', 'creators']);
    expect(await repairCounted({ flags: where })).toMatchObject({ parts: [1, 3], after: { damage: [] } });
    await load(changed, out, mode);
    await load(whole, out, 'replace');
    const rows = await rowsOf(changed, mode === 'scd2' ? 'WHERE valid_to IS NULL' : '');
    expect(rows).toEqual(await rowsOf(whole));
    expect(rows.filter((row) => row.includes(gone))).toEqual([]);
  },
  60_000,
);
