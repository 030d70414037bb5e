import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import type { LoadSummary } from '../../../src/wings/load/load-rows.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { allIds, loseTables, newer, nightsOfFile, repairCounted } from '../repair/based-nights.ts';
import { queryDuckdb, sqlText } from '../../support/query-duckdb.ts';

const twoNights = nightsOfFile();

async function load(database: string, folder: string, mode: 'replace' | 'scd2') {
  const request = { files: localDisk, folder, kind: 'duckdb', mode, maxDeletes: '10%' } as const;
  let done: LoadSummary | undefined;
  await loadExport(request, parseTarget(`duckdb:${database}`, '/'), (summary) => (done = summary));
  return done;
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

it.each([
  ['replace', 'requested'],
  ['scd2', 'requested'],
  ['scd2', 'made of its siblings'],
  ['scd2', 'without its table changes'],
] as const)(
  // Promise, Nothing lost: A repaired night loads like the whole export
  'a night that was repaired is loaded with --mode %s on top of the night before: its tables are those of the whole export (%s)',
  async (mode, how) => {
    const [gone = ''] = allIds.slice(60);
    const now = newer.map((record) => record.replace('"frozen":false', '"frozen":true'));
    const { top, base, out, where } = await twoNights(
      {},
      now.filter((record) => !record.includes(gone)),
    );
    const [changed, whole] = [join(top, 'changed.duckdb'), join(top, 'whole.duckdb')];
    await load(changed, base, mode);
    if (how === 'requested') {
      loseTables(out, 1);
      loseTables(out, 3, ['assets', 'creators']);
    } else if (how === 'made of its siblings') rmSync(join(out, 'csv'), { recursive: true });
    else loseTables(out, 0, ['changes']);
    const parts = how === 'requested' ? [1, 3] : [];
    expect(await repairCounted({ flags: where })).toMatchObject({ parts, after: { damage: [] } });
    expect((await load(changed, out, mode))?.way).toBe(
      mode === 'replace' ? 'new file' : how === 'made of its siblings' ? 'by changes' : 'by comparing',
    );
    await load(whole, out, 'replace');
    const rows = await rowsOf(changed, mode === 'scd2' ? 'WHERE valid_to IS NULL' : '');
    expect(rows).toEqual(await rowsOf(whole));
    if (how === 'requested') expect(rows.filter((row) => row.includes(gone))).toEqual([]);
  },
  60_000,
);
