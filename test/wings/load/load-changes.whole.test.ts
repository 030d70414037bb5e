import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diffExports } from '../../../src/wings/warehouse/diff/diff-exports.ts';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import type { LoadSummary } from '../../../src/wings/load/load-rows.ts';
import type { LoadTarget } from '../../../src/wings/load/load-target.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import {
  assetIds,
  exportNight,
  fewColumns,
  firstNight,
  secondNight,
  thirdNight,
} from '../warehouse/diff/two-nights.ts';
import { sampled } from '../../model/support/sample.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases, inOneEngine, type OpenedDatabase } from './both-databases.ts';

const server = await postgresOfTests('changes are not loaded into PostgreSQL');
const opened = emptyDatabases(server);

/** Three nights, and the changes from each to the next. */
interface Nights {
  readonly nights: readonly string[];
  readonly diffs: readonly string[];
}

let made: Nights;

function diffInto(out: string, from: string, to: string) {
  return diffExports({ files: localDisk, from, to, out, memoryBytes: 300e6, ignored: [], version: '0' });
}

let folder: Awaited<ReturnType<typeof keptFolder>>;

afterAll(() => folder.remove());

beforeAll(async () => {
  folder = await keptFolder();
  const second = assetIds.filter((_, n) => n < 195 || n > 199);
  const nights: string[] = [];
  for (const [index, record] of [firstNight, secondNight, thirdNight].entries()) {
    const ids = index === 1 ? second : assetIds;
    const out = join(folder.path, String(index), 'out');
    nights.push(await exportNight({ record, ids, flags: { format: 'parquet,csv', columns: fewColumns }, out }));
  }
  const diffs: string[] = [];
  for (const index of [0, 1]) {
    const out = `${nights[index] ?? ''}-diff`;
    const [from = '', to = ''] = nights.slice(index);
    await diffInto(out, from, to);
    diffs.push(out);
  }
  made = { nights, diffs };
}, 120_000);

const contents = ['assets', 'creators', 'files'].map((table) => `SELECT * FROM ${table}`);

async function dumped({ rows }: OpenedDatabase, queries: readonly string[] = contents): Promise<string[][]> {
  const all: string[][] = [];
  for (const query of queries) all.push((await rows(query)).sort());
  return all;
}

describe.each(['duckdb', 'postgres'] as const)('changes in %s', (kind) => {
  const load = async (target: LoadTarget, folder: string | undefined, more: Partial<LoadRequest> = {}) => {
    const seen: LoadSummary[] = [];
    const request = { files: localDisk, folder: folder ?? '', kind, mode: 'replace' as const, ...more };
    await loadExport({ ...request, maxDeletes: more.maxDeletes ?? '10%' }, target, (loaded) => seen.push(loaded));
    return seen[0]?.way ?? seen[0]?.state;
  };
  const test = it.skipIf(kind === 'postgres' && server.isMissing);
  const inOne = inOneEngine(kind, test);

  test('of diffs applied night by night give the tables of the last whole export', async () => {
    const whole = await opened(kind);
    await load(whole.target, made.nights[2]);
    const wanted = await dumped(whole);
    const changed = await opened(kind);
    expect(await load(changed.target, made.nights[0])).toBe('into empty tables');
    expect(await load(changed.target, made.diffs[0])).toBe('by changes');
    expect(await load(changed.target, made.diffs[1])).toBe('by changes');
    expect(await dumped(changed)).toEqual(wanted);
    expect(wanted.map((rows) => rows.length > 150)).toEqual([true, true, true]);
  });

  describe('of child rows whose assets are exported without the column that holds them', () => {
    const flags = { columns: 'id,content_metadata_name', tables: 'assets,creators,files', format: 'csv,raw' };

    /** The tables after both nights, the second one loaded from `second`, and after the second one alone. */
    async function both(first: string, second: string, night: string) {
      const changed = await opened(kind);
      await load(changed.target, first);
      const way = await load(changed.target, second);
      const whole = await opened(kind);
      await load(whole.target, night);
      return { way, held: await dumped(changed), wanted: await dumped(whole) };
    }

    inOne()('are those of the newer export after a diff of it', async () => {
      const [first, second] = [
        await exportNight({ record: firstNight, flags }),
        await exportNight({ record: secondNight, flags }),
      ];
      const out = join(await tempFolder(), 'diff');
      const { columns } = await diffInto(out, first, second);
      // Of every tenth asset but those whose price changed.
      expect(columns).toMatchObject({ creators: 18 });
      const { way, held, wanted } = await both(first, out, second);
      expect(way).toBe('by changes');
      expect(held).toEqual(wanted);
    });

    inOne()('are those of a night, which is compared as a whole', async () => {
      const nightly = { ...flags, tables: `${flags.tables},changes`, 'max-age': '0d', 'missing-after': '0d' };
      const first = await exportNight({ record: firstNight, flags: { ...nightly, base: 'none' } });
      const second = await exportNight({ record: secondNight, flags: { ...nightly, base: first } });
      const { way, held, wanted } = await both(first, second, second);
      expect(held).toEqual(wanted);
      expect(way).not.toBe('by changes');
    });
  });

  inOne('duckdb').each(sampled(['replace', 'scd2'] as const, 2))(
    // Promise, Nothing misread: Loading a diff twice changes nothing; out of order it is refused (sampled)
    'of diffs applied twice change nothing, and elsewhere the whole export is named: %s',
    async (mode) => {
      const database = await opened(kind);
      const { target } = database;
      const elsewhere = { exit: 'usage', todo: expect.stringMatching(/^Load the export out instead/) as string };
      await expect(load(target, made.diffs[1], { mode })).rejects.toMatchObject(elsewhere);
      // A night that was pruned is not what to load.
      const alone = join(await tempFolder(), 'diff');
      cpSync(made.diffs[0] ?? '', alone, { recursive: true });
      await expect(load(target, alone, { mode })).rejects.toMatchObject({
        todo: expect.stringMatching(/^Load the export out instead/) as string,
      });
      await load(target, made.nights[0], { mode });
      await expect(load(target, made.diffs[1], { mode })).rejects.toThrow('which the tables do not hold');
      await load(target, made.diffs[0], { mode });
      const once = await dumped(database);
      expect(await load(target, made.diffs[0], { mode })).toBe('already');
      // The diff brought the table to that night.
      expect(await load(target, made.nights[1], { mode, skipHeld: true })).toBe('already');
      await expect(load(target, made.nights[0], { mode })).rejects.toThrow('is older: the table');
      expect(await dumped(database)).toEqual(once);
    },
  );

  inOne('postgres')('scd2 keeps every version, closed by the next, and gives back each night', async () => {
    const database = await opened(kind);
    const options = { mode: 'scd2' as const };
    for (const folder of [made.nights[0], ...made.diffs]) await load(database.target, folder, options);
    const whole = async (folder: string | undefined) => {
      const other = await opened('duckdb');
      await loadExport({ files: localDisk, folder: folder ?? '', kind: 'duckdb', mode: 'replace' }, other.target);
      return (await other.rows('SELECT id, ownership_owner, content_metadata_name FROM assets')).sort();
    };
    const times = (await database.rows('SELECT DISTINCT valid_from FROM assets ORDER BY 1')).map((row) => `'${row}'`);
    expect(times).toHaveLength(3);
    for (const [night, at] of times.entries()) {
      const valid = `valid_from <= ${at} AND (valid_to IS NULL OR valid_to > ${at})`;
      const rows = await database.rows(
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
    expect(await database.rows('SELECT id FROM assets WHERE valid_to IS NULL GROUP BY id HAVING count(*) > 1')).toEqual(
      [],
    );
    const held = await database.rows('SELECT count(*) FROM assets');
    await expect(load(database.target, made.nights[1], { mode: 'replace' })).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringContaining('was loaded with --mode scd2') as string,
    });
    expect(await database.rows('SELECT count(*) FROM assets')).toEqual(held);
  });

  // Promise, Nothing misread: A load above `--max-deletes` is rolled back
  inOne()('more deletes than allowed keep nothing; they can be kept or marked', async () => {
    const database = await opened(kind);
    const { target } = database;
    await load(target, made.nights[0]);
    const before = await dumped(database);
    await expect(load(target, made.diffs[0], { maxDeletes: '2' })).rejects.toMatchObject({ exit: 'notTolerated' });
    expect(await dumped(database)).toEqual(before);
    await load(target, made.diffs[0], { maxDeletes: '2', deletes: 'keep' });
    expect(await database.rows('SELECT count(*) FROM assets')).toEqual(['220']);
    const other = await opened(kind);
    await load(other.target, made.nights[0]);
    await load(other.target, made.diffs[0], { deletes: 'mark' });
    expect(await other.rows('SELECT count(*), count(deleted_at) FROM assets')).toEqual(['220|6']);
    await load(other.target, made.diffs[1], { deletes: 'mark' });
    // The six came back, and seven others went.
    expect(await other.rows('SELECT count(*) FROM assets WHERE deleted_at IS NOT NULL')).toEqual(['7']);
  });
});
