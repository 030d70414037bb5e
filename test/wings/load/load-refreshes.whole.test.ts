import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadExport, type LoadSummary } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { assetIds, exportNight, firstNight, secondNight, thirdNight } from '../warehouse/diff/two-nights.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { queryDuckdb } from '../../support/query-duckdb.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';

const { isMissing, psql, address } = await postgresOfTests('refreshes are not loaded into PostgreSQL');

/** Three nights, each based on the one before; every row is stale. */
const nights: string[] = [];
let folder: Awaited<ReturnType<typeof keptFolder>>;

beforeAll(async () => {
  folder = await keptFolder();
  const listed = [assetIds, assetIds.filter((_, n) => n < 195 || n > 199), assetIds.toSpliced(20, 3)];
  for (const [index, record] of [firstNight, secondNight, thirdNight].entries()) {
    const tables = 'assets,creators,files,changes';
    // Prices count here: what is ignored stays as old as the row.
    const flags = {
      base: nights.at(-1) ?? 'none',
      'max-age': '0d',
      'missing-after': '0d',
      ignore: 'extra.last_indexed_slot',
      tables,
    };
    const out = join(folder.path, `night-${index}`);
    nights.push(
      await exportNight({ record, ids: listed[index] ?? [], flags: { ...flags, format: 'parquet,csv' }, out }),
    );
  }
}, 120_000);

afterAll(() => folder.remove());

type Mode = 'replace' | 'merge' | 'scd2';

async function load(target: string, night: number, mode: Mode): Promise<string | undefined> {
  return (await loaded(target, night, mode))?.state;
}

async function loaded(target: string, night: number, mode: Mode): Promise<LoadSummary | undefined> {
  const seen: LoadSummary[] = [];
  const kind = target.startsWith('duckdb:') ? 'duckdb' : 'postgres';
  const request = { files: diskFileStore, folder: nights[night] ?? '', kind, mode, maxDeletes: '10%' } as const;
  await loadExport(request, parseTarget(target, '/'), (what) => seen.push(what));
  return seen[0];
}

const tables = ['assets', 'creators', 'files'];

async function inDuckdb(name: string, where = ''): Promise<string[][]> {
  const instance = await DuckDBInstance.create(join(folder.path, name));
  const connection = await instance.connect();
  const found: string[][] = [];
  for (const table of tables) {
    const hidden = where === '' ? '' : 'EXCLUDE (valid_from, valid_to)';
    const rows = (await connection.runAndReadAll(`SELECT * ${hidden} FROM ${table} ${where}`)).getRowsJson();
    found.push(rows.map((row) => JSON.stringify(row)).sort());
  }
  connection.closeSync();
  instance.closeSync();
  return found;
}

async function inPostgres(): Promise<string[][]> {
  const found: string[][] = [];
  for (const table of tables) found.push((await psql(`SELECT * FROM ${table}`)).split('\n').sort());
  return found;
}

const target = (name: string): string => `duckdb:${join(folder.path, name)}`;

const wholeNight = async (night: number): Promise<string[][]> => {
  await load(target(`whole-${night}`), night, 'replace');
  return inDuckdb(`whole-${night}`);
};

/** Without `fetched_at`: in a table the row of an asset that did not change is that of an earlier night. */
const withoutTimes = (found: readonly string[][]): string[][] =>
  found.map((rows) => rows.map((row) => row.replaceAll(/20\d\d-\d\d-\d\d [\d:.]+\+00/g, '')).sort());

describe('refreshes loaded night by night', () => {
  it('merge gives the tables of the last whole export, and applied twice changes nothing', async () => {
    expect(await load(target('merged'), 0, 'merge')).toBe('loaded');
    const merged = await loaded(target('merged'), 1, 'merge');
    const ids = `SELECT id FROM read_parquet('${nights[1] ?? ''}/parquet/changes/*.parquet') WHERE op <> 'delete'`;
    for (const child of ['creators', 'files']) {
      const path = `${nights[1] ?? ''}/parquet/${child}/*.parquet`;
      const [[rows] = []] = await queryDuckdb(
        `SELECT count(*) FROM read_parquet('${path}') WHERE asset_id IN (${ids})`,
      );
      expect(merged).toMatchObject({ state: 'merged', tables: { [child]: Number(rows) } });
    }
    expect(await load(target('merged'), 2, 'merge')).toBe('merged');
    const found = await inDuckdb('merged');
    expect(withoutTimes(found)).toEqual(withoutTimes(await wholeNight(2)));
    expect(found.every((rows) => rows.length > 150)).toBe(true);
    expect(await load(target('merged'), 2, 'merge')).toBe('already');
    expect(await inDuckdb('merged')).toEqual(found);
  });

  it('scd2 holds each night: its open rows are those of the whole export', async () => {
    for (const night of nights.keys()) {
      await load(target('history'), night, 'scd2');
      const found = await inDuckdb('history', 'WHERE valid_to IS NULL');
      expect(withoutTimes(found)).toEqual(withoutTimes(await wholeNight(night)));
    }
    const all = await inDuckdb('history', 'WHERE true');
    expect(await load(target('history'), 2, 'scd2')).toBe('already');
    expect(await inDuckdb('history', 'WHERE true')).toEqual(all);
  });

  it.each(['merge', 'scd2'] as const)(
    'the command refuses a night out of order, and reports one twice: %s',
    async (mode) => {
      const run = (night: number) =>
        runHere([
          'load',
          nights[night] ?? '',
          '--to',
          target(`command-${mode}`),
          '--mode',
          mode,
          '--max-deletes',
          '10%',
        ]);
      expect((await run(0)).exit).toBe(0);
      const early = await run(2);
      expect(early.exit).toBe(2);
      expect(early.stderr).toMatch(/Load \S*night-1 first/);
      expect((await run(1)).exit).toBe(0);
      const again = await run(1);
      expect(again.exit, again.stderr).toBe(0);
      expect(again.stdout + again.stderr).toContain('already');
      expect((await run(0)).exit).toBe(2);
    },
  );

  it.skipIf(isMissing)('merge into PostgreSQL gives the same tables as the last whole export there', async () => {
    const clear = () => psql('DROP TABLE IF EXISTS assets, creators, files, changes, _asset_export_loads');
    await clear();
    await load(address, 2, 'replace');
    const wanted = await inPostgres();
    await clear();
    for (const night of nights.keys()) await load(address, night, 'merge');
    const found = await inPostgres();
    expect(withoutTimes(found)).toEqual(withoutTimes(wanted));
    expect(await load(address, 2, 'merge')).toBe('already');
    await expect(load(address, 1, 'merge')).rejects.toMatchObject({ exit: 'usage' });
    expect(await inPostgres()).toEqual(found);
  });
});
