import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../../src/core/records/columns.ts';
import type { ExportError } from '../../../src/lib/export-error.ts';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { parseTarget, requireNames } from '../../../src/wings/load/load-target.ts';
import { runsAll } from '../../support/lane.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { localExports, request } from './local-exports.ts';
import { sampled } from '../../model/support/sample.ts';

const { isMissing, query, address } = await postgresOfTests('loading into PostgreSQL is not tested');
const { service, exported, shared } = await localExports();

async function duckRows(file: string, sql: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowsJson();
  connection.closeSync();
  instance.closeSync();
  return rows;
}

const allColumns = assetsTable.columns.map(({ name }) => name).join();
const counts = `SELECT (SELECT count(*) FROM assets), (SELECT count(DISTINCT id) FROM assets), (SELECT count(*) FROM creators), (SELECT count(*) FROM files)`;

// Promise, Nothing misread: The tables load into DuckDB and PostgreSQL as they are, each element once (sampled)
describe('into DuckDB', () => {
  const kinds = [
    ['parquet', {}],
    ['parquet', { 'exported-at': true }],
    ['csv', { compression: 'csv=zstd' }],
    ['csv', { 'csv-dialect': 'redshift' }],
    ['jsonl', { compression: 'jsonl=gzip' }],
  ] as const;
  it.each(sampled(kinds, 5))('loads %s %j, and the same again', async (format, flags) => {
    const folder = await shared(100, { format, columns: allColumns, ...flags });
    const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
    const first = await loadExport(request(folder, 'duckdb'), target);
    const [rows] = await duckRows(target.address, counts);
    expect(rows).toEqual(['100', '100', String(first['creators']), String(first['files'])]);
    expect(await loadExport(request(folder, 'duckdb'), target)).toEqual(first);
    expect(await duckRows(target.address, counts)).toEqual([rows]);
    const odd = `SELECT count(*) FROM assets WHERE content_json_uri = '' AND interface IS NOT NULL`;
    expect(await duckRows(target.address, odd)).toEqual([[String(service.emptyUris(100))]]);
  });

  it('goes by the new name of the id', async () => {
    const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
    const renamed = await exported(20, { rename: 'id=asset' });
    await loadExport(request(renamed, 'duckdb'), target);
    await loadExport(request(renamed, 'duckdb'), target);
    expect(await duckRows(target.address, 'SELECT count(asset) FROM assets')).toEqual([['20']]);
  });

  it.each([
    ['date=2026-01-31', 'parquet'],
    ['collection=other', 'csv'],
    ['a[b]', 'jsonl'],
    ['a*', 'parquet'],
  ])('takes the name of a folder for a name, and nothing else: %s', async (name, sample) => {
    const above = await tempFolder();
    for (const format of runsAll ? ['parquet', 'csv', 'jsonl'] : [sample]) {
      const out = join(above, name, format);
      await cp(await shared(20, { format, tables: 'assets' }), out, { recursive: true });
      await cp(await shared(30, { format, tables: 'assets' }), join(above, 'another', format), { recursive: true });
      const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
      await loadExport(request(out, 'duckdb'), target);
      const others = `SELECT count(*), count(*) FILTER (collection = 'other') FROM assets`;
      expect(await duckRows(target.address, others)).toEqual([['20', '0']]);
    }
  });

  it('loads into a schema of its own, though the file has its name, under prefixed names', async () => {
    const folder = await shared(50);
    const file = join(await tempFolder(), 'raw.duckdb');
    const target = parseTarget(`duckdb:${file}`, '/');
    const named = { schema: 'raw', prefix: 'nft_' };
    for (const _ of [1, 2]) {
      expect(await loadExport({ ...request(folder, 'duckdb'), ...named }, target)).toMatchObject({ assets: 50 });
    }
    expect(await duckRows(file, 'SELECT count(*) FROM raw.raw.nft_assets')).toEqual([['50']]);
    const where = `SELECT DISTINCT table_schema, table_name LIKE 'nft_%' FROM information_schema.tables WHERE table_name <> '_asset_export_loads'`;
    expect(await duckRows(file, where)).toEqual([['raw', true]]);
  });

  // Promise, Nothing misread: An export without assets empties a table only with `--allow-empty`
  it('replaces a table that has rows by none only when it is told to', async () => {
    const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
    const replaced = request(await exported(0), 'duckdb');
    await expect(loadExport(replaced, target)).rejects.toThrow('has no assets, and neither have the tables');
    await loadExport({ ...replaced, allowEmpty: true }, target);
    // The next night of an empty list needs no flag.
    await loadExport(replaced, target);
    await loadExport(request(await exported(20), 'duckdb'), target);
    await expect(loadExport(replaced, target)).rejects.toMatchObject({ exit: 'notTolerated' });
    expect(await duckRows(target.address, 'SELECT count(*) FROM assets')).toEqual([['20']]);
    await expect(loadExport({ ...replaced, allowEmpty: true }, target)).rejects.toMatchObject({
      todo: expect.stringContaining('--allow-older') as string,
    });
    await loadExport({ ...replaced, allowEmpty: true, allowOlder: true }, target);
    expect(await duckRows(target.address, 'SELECT count(*) FROM assets')).toEqual([['0']]);
  });

  it('keeps what was there when a load fails', async () => {
    const folder = await shared(30);
    const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
    await duckRows(target.address, 'CREATE TABLE creators (asset_id INTEGER); INSERT INTO creators VALUES (1)');
    await expect(loadExport(request(folder, 'duckdb'), target)).rejects.toMatchObject({ exit: 'loadFailed' });
    expect(await duckRows(target.address, 'SELECT count(*) FROM creators')).toEqual([['1']]);
    await expect(duckRows(target.address, 'SELECT 1 FROM assets')).rejects.toThrow('assets does not exist');
  });

  it('refuses what verify would not pass', async () => {
    const folder = await exported(30);
    const part = join(folder, 'parquet/assets/part-00000.parquet');
    const bytes = await readFile(part);
    bytes[100] = (bytes[100] ?? 0) ^ 1;
    await writeFile(part, bytes);
    const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
    await expect(loadExport(request(folder, 'duckdb'), target)).rejects.toMatchObject({ exit: 'damaged' });
    await expect(loadExport(request(await tempFolder(), 'duckdb'), target)).rejects.toMatchObject({ exit: 'usage' });
  });

  it('refuses an export that holds no exact table', async () => {
    const raw = await exported(10, { format: 'raw' });
    const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
    await expect(loadExport(request(raw, 'duckdb'), target)).rejects.toMatchObject({ exit: 'usage' });
    const escaped = await exported(10, { format: 'csv', 'csv-formulas': 'escape' });
    await expect(loadExport(request(escaped, 'duckdb'), target)).rejects.toThrow('has no loadable tables');
  });
});

describe.skipIf(isMissing)('into PostgreSQL', () => {
  const target = parseTarget(address, '/');
  const drop = 'DROP TABLE IF EXISTS assets, creators, files;';

  const kinds = [
    ['parquet', {}],
    ['parquet', { 'exported-at': true }],
    ['csv', { compression: 'csv=zstd' }],
    ['csv', { 'csv-dialect': 'clickhouse' }],
    ['csv', { 'csv-dialect': 'postgres', 'exported-at': true }],
    ['jsonl', { compression: 'jsonl=gzip', rename: 'burnt=line' }],
  ] as const;
  it.each(sampled(kinds, 6))('loads %s %j, and the same again', async (format, flags) => {
    const folder = await shared(100, { format, columns: allColumns, ...flags });
    await query(drop);
    const first = await loadExport(request(folder, 'postgres'), target);
    const wanted = `100|100|${first['creators'] ?? 0}|${first['files'] ?? 0}\n`;
    expect(await query(counts)).toBe(wanted);
    await loadExport(request(folder, 'postgres'), target);
    expect(await query(counts)).toBe(wanted);
    const odd = `SELECT count(*) FROM assets WHERE content_json_uri = '' AND interface IS NOT NULL`;
    expect(await query(odd)).toBe(`${service.emptyUris(100)}\n`);
  });

  it('gives the tables that it makes a primary key', async () => {
    const keys = `SELECT c.conrelid::regclass, pg_get_constraintdef(c.oid) FROM pg_constraint c WHERE contype = 'p' AND connamespace = 'public'::regnamespace AND conrelid::regclass::text <> '_asset_export_loads'`;
    const renamed = await shared(20, { rename: 'id=asset' });
    await query(drop);
    await loadExport(request(renamed, 'postgres'), target);
    expect((await query(keys)).trimEnd().split('\n').sort()).toEqual([
      'assets|PRIMARY KEY (asset)',
      'creators|PRIMARY KEY (asset_id, "position")',
      'files|PRIMARY KEY (asset_id, "position")',
    ]);
    await query(drop);
  });

  it.each(sampled(['csv', 'parquet', 'jsonl'], 3))(
    // Promise, Nothing misread: A load writes only into the given schema and tables (sampled)
    'loads %s into a schema of its own, under prefixed names',
    async (format) => {
      await query(`${drop} DROP SCHEMA IF EXISTS "ra""w's" CASCADE`);
      const folder = await shared(50, { format });
      const named = { schema: `ra"w's`, prefix: 'nft_' };
      for (const _ of [1, 2]) {
        expect(await loadExport({ ...request(folder, 'postgres'), ...named }, target)).toMatchObject({
          assets: 50,
        });
      }
      expect(await query(`SELECT count(*) FROM "ra""w's".nft_assets`)).toBe('50\n');
      expect(await query(`SELECT count(*) > 0 FROM "ra""w's".nft_creators`)).toBe('t\n');
      expect(
        await query(`SELECT to_regclass('public.nft_assets') IS NULL AND to_regclass('public.assets') IS NULL`),
      ).toBe('t\n');
    },
  );

  it('names the right that lacks, with the statement that gives it', async () => {
    await query(`${drop} DROP SCHEMA IF EXISTS "o'ther" CASCADE; DROP ROLE IF EXISTS "new role"; CREATE ROLE "new role" LOGIN;
      CREATE SCHEMA "o'ther"`);
    const role = parseTarget(address.replace('user=tester', 'user=new%20role'), '/');
    const folder = await shared(20);
    const load = () => loadExport({ ...request(folder, 'postgres'), schema: "o'ther" }, role);
    const granted: string[] = [];
    for (;;) {
      const error = await load().then(
        () => undefined,
        (thrown: unknown) => thrown as ExportError,
      );
      if (error === undefined) break;
      const [, grant = ''] =
        /^Rolled back\. Run as the owner of the \w+, then load again:\n(GRANT .*;)$/.exec(error.todo ?? '') ?? [];
      expect(granted, error.message).not.toContain(grant);
      granted.push(grant);
      await query(grant);
    }
    expect(granted).toEqual([`GRANT USAGE, CREATE ON SCHEMA "o'ther" TO "new role";`]);
    await query(`REVOKE ALL ON "o'ther".assets FROM "new role"; ALTER TABLE "o'ther".assets OWNER TO tester`);
    await expect(load()).rejects.toMatchObject({
      exit: 'loadFailed',
      todo: expect.stringMatching(
        /\nGRANT SELECT, INSERT, UPDATE, DELETE ON "o'ther"\."assets" TO "new role";$/,
      ) as string,
    });
  });

  it('takes a schema that is there from whoever may not make one', async () => {
    await query(`${drop} DROP SCHEMA IF EXISTS granted CASCADE; DROP ROLE IF EXISTS analyst; CREATE ROLE analyst LOGIN;
      CREATE SCHEMA granted AUTHORIZATION analyst`);
    const analyst = parseTarget(address.replace('user=tester', 'user=analyst'), '/');
    const named = { ...request(await shared(20), 'postgres'), schema: 'granted' };
    expect(await loadExport(named, analyst)).toMatchObject({ assets: 20 });
  });

  it('replaces a table that has rows by none only when it is told to', async () => {
    await query(drop);
    const none = await exported(0, { format: 'csv' });
    const replaced = request(none, 'postgres');
    const refused = { exit: 'notTolerated', message: expect.stringContaining('has no assets') as string };
    await expect(loadExport(replaced, target), 'tables that are not there').rejects.toMatchObject(refused);
    await loadExport({ ...replaced, allowEmpty: true }, target);
    await loadExport(request(await exported(20), 'postgres'), target);
    await expect(loadExport(replaced, target)).rejects.toMatchObject({
      exit: 'notTolerated',
      todo: expect.stringContaining('--allow-empty') as string,
    });
    expect(await query('SELECT count(*) FROM assets')).toBe('20\n');
    await expect(loadExport({ ...replaced, allowEmpty: true }, target)).rejects.toMatchObject({
      todo: expect.stringContaining('--allow-older') as string,
    });
    await loadExport({ ...replaced, allowEmpty: true, allowOlder: true }, target);
    expect(await query('SELECT count(*) FROM assets')).toBe('0\n');
  });

  it.each(sampled(['assets,creators,files', 'files,creators,assets'], 2))(
    'keeps each asset once when two loads come at the same time, one of %s',
    async (ofOther) => {
      const folder = await shared(100);
      const turned = await shared(100, { tables: ofOther });
      await query(drop);
      const loaded = await loadExport(request(folder, 'postgres'), target);
      // The one that began later may come first.
      const loads = [folder, turned].map((each) => ({ ...request(each, 'postgres'), allowOlder: true }));
      await Promise.all(loads.map((each) => loadExport(each, target)));
      expect(await query(counts)).toBe(`100|100|${loaded['creators'] ?? 0}|${loaded['files'] ?? 0}\n`);
    },
  );

  it('makes the tables once when two loads come first at the same time', async () => {
    const folder = await shared(100);
    for (let time = 0; time < (runsAll ? 5 : 2); time += 1) {
      await query(drop);
      await Promise.all([1, 2].map(() => loadExport(request(folder, 'postgres'), target)));
      expect(await query('SELECT count(*), count(DISTINCT id) FROM assets')).toBe('100|100\n');
    }
  });

  it('holds the same values whichever format they came from', async () => {
    const columns =
      'id, interface, content_json_uri, royalty_percent, token_info_supply, supply_print_max_supply, burnt';
    const digest = `SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM (SELECT ${columns} FROM assets) t`;
    const digests = new Set<string>();
    for (const format of ['parquet', 'csv', 'jsonl']) {
      await query(drop);
      await loadExport(request(await shared(100, { format, 'show-fungible': true }), 'postgres'), target);
      digests.add(await query(digest));
    }
    expect(digests.size).toBe(1);
  });
});

it.each([
  [{ schema: '' }, '--schema'],
  [{ schema: 'é'.repeat(32) }, '--schema'],
  [{ prefix: 'x'.repeat(53) }, '--prefix'],
  [{ prefix: 'Asset_export_stage_' }, '--prefix begins with asset_export_stage_'],
])('names that a database would cut, or that stages have, are refused: %j', (names, flag) => {
  expect(() => {
    requireNames(names);
  }).toThrow(flag);
  requireNames({ schema: 'x'.repeat(63), prefix: 'x'.repeat(52) });
});

describe('a target', () => {
  it('is shown without user, password and parameters', () => {
    const { shown, kind } = parseTarget('postgres://me:secret@db.example:5433/warehouse?password=other', '/');
    expect({ shown, kind }).toEqual({ shown: 'postgres://db.example:5433/warehouse', kind: 'postgres' });
  });

  it.each([
    'mysql://me:secret@db',
    'postgres://me:secret@:x',
    'postgres://me:p@ss/secret@db.example/warehouse',
    'postgres://me:p@secret?ss@db.example/warehouse',
    'postgres://me:1234#secret@db.example/warehouse',
    'postgres:me:secret@db.example/warehouse',
    'postgres://me:1234?ab=c@db.example/warehouse',
    'postgres://me:1234/ab?cd=e@db.example/warehouse',
    'duckdb:',
  ])('that is none is refused unseen: %s', (text) => {
    const unseen = {
      message: expect.not.stringMatching(/secret|1234/) as string,
      todo: expect.not.stringMatching(/secret|1234/) as string,
    };
    expect(() => parseTarget(text, '/')).toThrow(expect.objectContaining({ exit: 'usage', ...unseen }) as Error);
    expect(() => parseTarget(text, '/')).toThrow('--to');
  });

  it.each([
    ['postgres://me@db/wh?schema=raw', 'unknown parameter "schema"', '--schema NAME'],
    ['postgres://me@db/wh?sslmode=require&currentSchema=raw', 'unknown parameter "currentSchema"', '--schema NAME'],
    ['postgres://me@db/wh?sslmod=require', 'unknown parameter "sslmod"', 'Remove it'],
    ['duckdb:wh.duckdb?schema=raw', 'unknown parameter "schema"', '--schema NAME'],
    // Promise, Nothing misread: An unknown parameter of a database address is refused
  ])('with a parameter that nobody reads is refused: %s', (text, message, todo) => {
    const refusal = { exit: 'usage', todo: expect.stringContaining(todo) as string };
    expect(() => parseTarget(text, '/')).toThrow(expect.objectContaining(refusal) as Error);
    expect(() => parseTarget(text, '/')).toThrow(message);
  });

  it('may hold an @ in its password and its parameters', () => {
    const { shown } = parseTarget('postgres://me:p@ss@db.example/warehouse?user=me@server&host=%2Ftmp', '/');
    expect(shown).toBe('postgres://db.example/warehouse');
  });

  it('that cannot be reached is told without its secrets', async () => {
    const folder = await shared(10);
    const target = parseTarget('postgres://me:s3cret@127.0.0.1:1/db?password=other', '/');
    let nowMs = 0;
    const clock = { now: () => nowMs, monotonic: () => nowMs, sleep: async (ms: number) => void (nowMs += ms) };
    const notes: string[] = [];
    const tried = { ...request(folder, 'postgres'), clock, note: (text: string) => notes.push(text) };
    await expect(loadExport(tried, target)).rejects.toMatchObject({
      exit: 'unavailable',
      message: expect.stringMatching(/^cannot reach postgres:(?!.*(s3cret|other))/) as string,
    });
    expect(nowMs).toBeGreaterThan(20_000);
    expect(nowMs).toBeLessThanOrEqual(30_000);
    expect(notes).toEqual([expect.stringMatching(/does not answer .*ECONNREFUSED/)]);
  });
});
