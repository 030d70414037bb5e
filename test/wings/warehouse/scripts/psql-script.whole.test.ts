import { readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { creatorsTable } from '../../../../src/core/records/columns.ts';
import type { Manifest } from '../../../../src/places/export/manifest.ts';
import { ddlFor, loadStatementFor } from '../../../../src/wings/warehouse/engines.ts';
import { sampled } from '../../../model/support/sample.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { postgresOfTests } from '../postgres-of-tests.ts';
import { localExports } from '../../load/local-exports.ts';
import { scriptOf } from './script-nights.ts';

const { isMissing, query, psql } = await postgresOfTests('scripts for psql are not run', 'psql');
const { service, exported } = await localExports();

describe.skipIf(isMissing)('a script for psql', () => {
  const assets = 'SELECT count(*), count(DISTINCT id) FROM assets';

  beforeEach(async () => {
    await query('DROP TABLE IF EXISTS assets, creators, files, _asset_export_loads');
  });

  const shapes = [
    ['csv', {}],
    ['csv', { compression: 'csv=gzip' }],
    ['csv', { compression: 'csv=zstd', 'csv-dialect': 'clickhouse' }],
    ['jsonl', {}],
    ['jsonl', { compression: 'jsonl=gzip' }],
    ['jsonl', { compression: 'jsonl=zstd' }],
    ['jsonl,parquet', {}],
  ] as const;
  it.each(sampled(shapes, 3))('loads %s %j', async (format, flags) => {
    const folder = await exported(50, { format, out: join(await tempFolder(), `o'u\\t "$1" [a]*`), ...flags });
    for (const _ of [1, 2]) {
      await psql(await scriptOf(folder, 'postgres'));
      expect(await query(assets)).toBe('50|50\n');
    }
    const empty = `SELECT count(*) FROM assets WHERE content_json_uri = '' AND interface IS NOT NULL`;
    expect(await query(empty)).toBe(`${service.emptyUris(50)}\n`);
  });

  it.each(['csv', 'jsonl'])('fills a table with other columns, in another order: %s', async (format) => {
    await query(`CREATE TABLE creators (
      note text DEFAULT 'kept', verified boolean, extra json, share bigint, address text, "position" bigint, asset_id text)`);
    await psql(await scriptOf(await exported(50, { format }), 'postgres'));
    const odd = `SELECT count(*) FROM creators WHERE note <> 'kept' OR note IS NULL OR length(asset_id) < 32`;
    expect(await query(odd)).toBe('0\n');
  });

  it.each([
    ['csv', 'none', ''],
    ['csv', 'gzip', '.gz'],
    ['jsonl', 'zstd', '.zst'],
  ])('stops at a part that it cannot read, and keeps what was there: %s, %s', async (format, codec, ending) => {
    await psql(await scriptOf(await exported(20, { format }), 'postgres'));
    const folder = await exported(50, { format, compression: `${format}=${codec}` });
    const script = `\\set ON_ERROR_STOP off\n${await scriptOf(folder, 'postgres')}`;
    const part = join(folder, format, 'assets', `part-00001.${format}${ending}`);
    if (codec !== 'none') {
      await truncate(part, 100);
      await expect(psql(script)).rejects.toThrow();
    }
    await rm(part);
    await expect(psql(script)).rejects.toThrow();
    expect(await query(assets)).toBe('20|20\n');
  });
});

const codecs = [
  ['csv', 'gzip'],
  ['csv', 'zstd'],
  ['jsonl', 'zstd'],
  ['jsonl', 'gzip'],
] as const;

it.skipIf(isMissing).each(sampled(codecs, 2))(
  'what schema prints for psql of a job reads the parts as they are compressed: %s, %s',
  async (format, codec) => {
    const folder = await exported(50, { format, tables: 'creators', compression: `${format}=${codec}` });
    const statement = loadStatementFor('postgres', { table: creatorsTable, format, folder, codec });
    await psql(`DROP TABLE IF EXISTS creators; ${ddlFor('postgres', creatorsTable)} ${statement}`);
    const { tables } = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    expect(await psql('SELECT count(*) FROM creators')).toBe(`${tables['creators']?.rows ?? 0}\n`);
  },
);

it('for psql is refused where the export holds Parquet alone', async () => {
  for (const flags of [{}, { format: 'parquet,csv', 'csv-formulas': 'escape' }]) {
    const failed = scriptOf(await exported(10, flags), 'postgres');
    await expect(failed).rejects.toMatchObject({ exit: 'usage' });
    await expect(failed).rejects.toThrow('psql cannot read Parquet');
  }
});
