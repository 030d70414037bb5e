import { readFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { creatorsTable } from '../../../src/core/records/columns.ts';
import { loadScript } from '../../../src/wings/load/load-export.ts';
import type { Manifest } from '../../../src/places/export/manifest.ts';
import { ddlFor, loadStatementFor } from '../../../src/wings/warehouse/dialects.ts';
import { runHere } from '../../support/run-here.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { localExports, request } from './local-exports.ts';

const { isMissing, psql } = await postgresOfTests('scripts for psql are not run', 'psql');
const { service, exported } = await localExports();

describe.skipIf(isMissing)('a script for psql', () => {
  const assets = 'SELECT count(*), count(DISTINCT id) FROM assets';

  beforeEach(async () => {
    await psql('DROP TABLE IF EXISTS assets, creators, files');
  });

  it.each([
    ['csv', {}],
    ['csv', { compression: 'csv=gzip' }],
    ['csv', { compression: 'csv=zstd', 'csv-dialect': 'clickhouse' }],
    ['jsonl', {}],
    ['jsonl', { compression: 'jsonl=gzip' }],
    ['jsonl', { compression: 'jsonl=zstd' }],
    ['jsonl,parquet', {}],
  ])('loads %s %j', async (format, flags) => {
    const folder = await exported(50, { format, out: join(await tempFolder(), `o'u\\t "$1" [a]*`), ...flags });
    for (const mode of ['replace', 'upsert'] as const) {
      await psql(await loadScript(request(folder, 'postgres', mode)));
      expect(await psql(assets)).toBe('50|50\n');
    }
    const empty = `SELECT count(*) FROM assets WHERE content_json_uri = '' AND interface IS NOT NULL`;
    expect(await psql(empty)).toBe(`${service.emptyUris(50)}\n`);
  });

  it.each(['csv', 'jsonl'])('fills a table with other columns, in another order: %s', async (format) => {
    await psql(`CREATE TABLE creators (
      note text DEFAULT 'kept', verified boolean, extra json, share bigint, address text, "position" bigint, asset_id text)`);
    await psql(await loadScript(request(await exported(50, { format }), 'postgres')));
    const odd = `SELECT count(*) FROM creators WHERE note <> 'kept' OR note IS NULL OR length(asset_id) < 32`;
    expect(await psql(odd)).toBe('0\n');
  });

  it.each([
    ['csv', 'none', ''],
    ['csv', 'gzip', '.gz'],
    ['jsonl', 'zstd', '.zst'],
  ])('stops at a part that it cannot read, and keeps what was there: %s, %s', async (format, codec, ending) => {
    await psql(await loadScript(request(await exported(20, { format }), 'postgres')));
    const folder = await exported(50, { format, compression: `${format}=${codec}` });
    const script = `\\set ON_ERROR_STOP off\n${await loadScript(request(folder, 'postgres'))}`;
    const part = join(folder, format, 'assets', `part-00001.${format}${ending}`);
    if (codec !== 'none') {
      await truncate(part, 100);
      await expect(psql(script)).rejects.toThrow();
    }
    await rm(part);
    await expect(psql(script)).rejects.toThrow();
    expect(await psql(assets)).toBe('20|20\n');
  });
});

it.skipIf(isMissing).each([
  ['csv', 'gzip'],
  ['csv', 'zstd'],
  ['jsonl', 'gzip'],
  ['jsonl', 'zstd'],
] as const)(
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
  const failed = loadScript(request(await exported(10), 'postgres'));
  await expect(failed).rejects.toMatchObject({ exit: 'usage' });
  await expect(failed).rejects.toThrow('psql cannot read Parquet');
  const escaped = exported(10, { format: 'parquet,csv', 'csv-formulas': 'escape' });
  await expect(loadScript(request(await escaped, 'postgres'))).rejects.toThrow('psql cannot read Parquet');
});

it('of --mode merge is refused, for DuckDB with the command that prints it', async () => {
  const [from, to] = [await exported(10), await exported(11)];
  const diff = join(await tempFolder(), 'changes');
  await runHere(['diff', from, to, '--out', diff]);
  const refused = await runHere(['load', diff, '--to', 'duckdb:a', '--mode', 'merge', '--sql']);
  expect(refused.exit, refused.stderr).toBe(2);
  const [, command = ''] = /asset-export (schema .*)/.exec(refused.stderr) ?? [];
  const printed = await runHere(command.split(' '));
  expect(printed.stdout, printed.stderr).toContain('INSERT INTO');
  const inPsql = await runHere(['load', diff, '--to', 'postgres:///a', '--mode', 'merge', '--sql']);
  expect(inPsql.stderr).toMatch(/requires this check\n {2}Load without --sql\.\n$/);
});
