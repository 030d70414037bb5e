import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diffExports } from '../../../src/wings/warehouse/diff/diff-exports.ts';
import { loadExport, type LoadRequest, type LoadSummary } from '../../../src/wings/load/load-export.ts';
import { type LoadTarget, parseTarget } from '../../../src/wings/load/load-target.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { assetIds, exportNight, firstNight, secondNight, thirdNight } from '../warehouse/diff/two-nights.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { runsAll } from '../../support/lane.ts';
import { inOneEngine } from './both-databases.ts';

const { isMissing, psql, address } = await postgresOfTests('changes are not loaded into PostgreSQL');

interface Opened {
  readonly target: LoadTarget;
  /** The rows of a query as text, cells joined by a bar. */
  readonly rows: (sql: string) => Promise<string[]>;
}

const databases = {
  duckdb: async (): Promise<Opened> => {
    const file = join(await tempFolder(), 'a.duckdb');
    const rows = async (sql: string): Promise<string[]> => {
      const instance = await DuckDBInstance.create(file);
      const connection = await instance.connect();
      const found = (await connection.runAndReadAll(sql)).getRowsJson();
      connection.closeSync();
      instance.closeSync();
      return found.map((row) =>
        row.map((cell) => (cell === null ? '' : typeof cell === 'string' ? cell : JSON.stringify(cell))).join('|'),
      );
    };
    return { target: parseTarget(`duckdb:${file}`, '/'), rows };
  },
  postgres: async (): Promise<Opened> => {
    await psql('DROP TABLE IF EXISTS assets, creators, files, _asset_export_loads');
    const rows = async (sql: string) => (await psql(sql)).split('\n').filter((line) => line !== '');
    return { target: parseTarget(address, '/'), rows };
  },
} as const;

/** Three nights, and the changes from each to the next. */
interface Nights {
  readonly nights: readonly string[];
  readonly diffs: readonly string[];
}

let made: Nights;
let folder: Awaited<ReturnType<typeof keptFolder>>;

afterAll(() => folder.remove());

beforeAll(async () => {
  folder = await keptFolder();
  const second = assetIds.filter((_, n) => n < 195 || n > 199);
  const nights: string[] = [];
  for (const [index, record] of [firstNight, secondNight, thirdNight].entries()) {
    const ids = index === 1 ? second : assetIds;
    const out = join(folder.path, String(index), 'out');
    nights.push(await exportNight({ record, ids, flags: { format: 'parquet,csv' }, out }));
  }
  const diffs: string[] = [];
  for (const index of [0, 1]) {
    const out = `${nights[index] ?? ''}-diff`;
    const [from = '', to = ''] = nights.slice(index);
    const ignored: string[] = [];
    await diffExports({ files: diskFileStore, from, to, out, memoryBytes: 300e6, ignored, version: '0' });
    diffs.push(out);
  }
  made = { nights, diffs };
}, 120_000);

const contents = ['assets', 'creators', 'files'].map((table) => `SELECT * FROM ${table}`);

async function dumped({ rows }: Opened, queries: readonly string[] = contents): Promise<string[][]> {
  const all: string[][] = [];
  for (const query of queries) all.push((await rows(query)).sort());
  return all;
}

describe.each(['duckdb', 'postgres'] as const)('changes in %s', (kind) => {
  const load = async (target: LoadTarget, folder: string | undefined, more: Partial<LoadRequest> = {}) => {
    const seen: LoadSummary[] = [];
    const request = { files: diskFileStore, folder: folder ?? '', kind, mode: 'merge' as const, ...more };
    await loadExport({ ...request, maxDeletes: more.maxDeletes ?? '10%' }, target, (loaded) => seen.push(loaded));
    return seen[0]?.state;
  };
  const test = it.skipIf(kind === 'postgres' && isMissing);
  const inOne = inOneEngine(kind, test);

  test('merged night by night give the tables of the last whole export', async () => {
    const whole = await databases[kind]();
    await load(whole.target, made.nights[2], { mode: 'replace' });
    const wanted = await dumped(whole);
    const merged = await databases[kind]();
    expect(await load(merged.target, made.nights[0])).toBe('loaded');
    expect(await load(merged.target, made.diffs[0])).toBe('merged');
    expect(await load(merged.target, made.diffs[1])).toBe('merged');
    expect(await dumped(merged)).toEqual(wanted);
    expect(wanted.map((rows) => rows.length > 150)).toEqual([true, true, true]);
  });

  test.each(runsAll ? (['merge', 'scd2'] as const) : [kind === 'duckdb' ? ('merge' as const) : ('scd2' as const)])(
    'applied twice change nothing, and out of order are refused: %s',
    async (mode) => {
      const opened = await databases[kind]();
      const { target } = opened;
      await expect(load(target, made.diffs[0], { mode })).rejects.toMatchObject({
        exit: 'usage',
        todo: expect.stringMatching(/^Load \S*\/out first, with --mode/) as string,
      });
      // A night that was pruned is not what to load.
      const alone = join(await tempFolder(), 'diff');
      cpSync(made.diffs[0] ?? '', alone, { recursive: true });
      await expect(load(target, alone, { mode })).rejects.toMatchObject({
        exit: 'usage',
        todo: expect.stringMatching(
          /^out is not beside it. If it was pruned, compare .*asset-export diff OLDER/,
        ) as string,
      });
      await load(target, made.nights[0], { mode });
      expect(await load(target, made.nights[0], { mode })).toBe('already');
      await expect(load(target, made.diffs[1], { mode })).rejects.toThrow('does not hold');
      await load(target, made.diffs[0], { mode });
      const once = await dumped(opened);
      expect(await load(target, made.diffs[0], { mode })).toBe('already');
      // The diff brought the table to that night.
      expect(await load(target, made.nights[1], { mode })).toBe('already');
      await expect(load(target, made.nights[0], { mode })).rejects.toThrow('has no table changes');
      expect(await dumped(opened)).toEqual(once);
    },
  );

  inOne('postgres')('scd2 keeps every version, closed by the next, and gives back each night', async () => {
    const opened = await databases[kind]();
    const options = { mode: 'scd2' as const };
    for (const folder of [made.nights[0], ...made.diffs]) await load(opened.target, folder, options);
    const whole = async (folder: string | undefined) => {
      const other = await databases.duckdb();
      await loadExport({ files: diskFileStore, folder: folder ?? '', kind: 'duckdb', mode: 'replace' }, other.target);
      return (await other.rows('SELECT id, ownership_owner, content_metadata_name FROM assets')).sort();
    };
    const times = (await opened.rows('SELECT DISTINCT valid_from FROM assets ORDER BY 1')).map((row) => `'${row}'`);
    expect(times).toHaveLength(3);
    for (const [night, at] of times.entries()) {
      const valid = `valid_from <= ${at} AND (valid_to IS NULL OR valid_to > ${at})`;
      const rows = await opened.rows(
        `SELECT id, ownership_owner, replace(content_metadata_name, chr(10), ' ') FROM assets WHERE ${valid}`,
      );
      const wanted = await whole(made.nights[night]);
      expect(rows.map((row) => row.split('|')[0]).sort()).toEqual(
        wanted
          .filter((row) => row.includes('|'))
          .map((row) => row.split('|')[0])
          .sort(),
      );
      expect(rows.map((row) => row.split('|')[1]).sort()).toEqual(
        wanted
          .filter((row) => row.includes('|'))
          .map((row) => row.split('|')[1])
          .sort(),
      );
    }
    expect(await opened.rows('SELECT id FROM assets WHERE valid_to IS NULL GROUP BY id HAVING count(*) > 1')).toEqual(
      [],
    );
    const held = await opened.rows('SELECT count(*) FROM assets');
    await expect(load(opened.target, made.diffs[1], { mode: 'merge' })).rejects.toThrow('was loaded with --mode scd2');
    await expect(load(opened.target, made.nights[1], { mode: 'replace' })).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringContaining('was loaded with --mode scd2') as string,
    });
    expect(await opened.rows('SELECT count(*) FROM assets')).toEqual(held);
  });

  inOne('duckdb')('more deletes than allowed keep nothing; they can be kept or marked', async () => {
    const opened = await databases[kind]();
    const { target } = opened;
    await load(target, made.nights[0]);
    const before = await dumped(opened);
    await expect(load(target, made.diffs[0], { maxDeletes: '2' })).rejects.toMatchObject({ exit: 'notTolerated' });
    expect(await dumped(opened)).toEqual(before);
    await load(target, made.diffs[0], { maxDeletes: '2', deletes: 'keep' });
    expect(await opened.rows('SELECT count(*) FROM assets')).toEqual(['220']);
    const other = await databases[kind]();
    await load(other.target, made.nights[0]);
    await load(other.target, made.diffs[0], { deletes: 'mark' });
    expect(await other.rows('SELECT count(*), count(deleted_at) FROM assets')).toEqual(['220|6']);
    await load(other.target, made.diffs[1], { deletes: 'mark' });
    // The six came back, and seven others went.
    expect(await other.rows('SELECT count(*) FROM assets WHERE deleted_at IS NOT NULL')).toEqual(['7']);
  });

  inOne('postgres')('tables that were filled otherwise are refused, and a diff is no whole export', async () => {
    const { target, rows } = await databases[kind]();
    await load(target, made.nights[0]);
    await rows('DELETE FROM _asset_export_loads');
    await expect(load(target, made.diffs[0])).rejects.toMatchObject({ exit: 'usage' });
    await expect(load(target, made.diffs[0], { mode: 'replace' })).rejects.toThrow('is a diff');
    await load(target, made.nights[0], { mode: 'replace' });
    expect(await load(target, made.diffs[0])).toBe('merged');
    expect(await rows('SELECT count(*) FROM assets')).toEqual(['214']);
  });
});
