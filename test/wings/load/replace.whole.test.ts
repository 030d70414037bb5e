import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import type { LoadSummary } from '../../../src/wings/load/load-rows.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { requireManifest, writeManifest } from '../../../src/places/export/manifest.ts';
import { assetIds, exportNight, fewColumns, firstNight, secondNight } from '../warehouse/diff/two-nights.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases, inOneEngine, type OpenedDatabase } from './both-databases.ts';

const server = await postgresOfTests('replace is not tested in PostgreSQL');
const opened = emptyDatabases(server);

/** Two nights; of the second, 5 ids are not listed and one is not known. And one without ids. */
const nights: string[] = [];
let withoutId = '';
let folder: Awaited<ReturnType<typeof keptFolder>>;

beforeAll(async () => {
  folder = await keptFolder();
  const flags = { format: 'csv', columns: fewColumns };
  const second = assetIds.filter((_, n) => n < 195 || n > 199);
  for (const [index, record] of [firstNight, secondNight].entries()) {
    const ids = index === 1 ? second : assetIds;
    nights.push(await exportNight({ record, ids, flags, out: join(folder.path, `date=2026-11-2${index}`) }));
  }
  const shape = { format: 'csv', tables: 'assets', exclude: 'id' };
  withoutId = await exportNight({ record: firstNight, flags: shape, out: join(folder.path, 'without-id') });
}, 120_000);

afterAll(() => folder.remove());

describe.each(['duckdb', 'postgres'] as const)('replace in %s', (kind) => {
  const test = it.skipIf(kind === 'postgres' && server.isMissing);
  const inOne = inOneEngine(kind, test);

  interface Loaded {
    readonly summary: LoadSummary | undefined;
    readonly notes: readonly string[];
  }

  async function load(
    { target }: OpenedDatabase,
    night: string | undefined,
    more: Partial<LoadRequest> = {},
  ): Promise<Loaded> {
    const notes: string[] = [];
    let summary: LoadSummary | undefined;
    const note = (text: string) => notes.push(text);
    const request = { files: localDisk, folder: night ?? '', kind, mode: 'replace' as const, note, ...more };
    await loadExport(request, target, (loaded) => (summary = loaded));
    return { summary, notes };
  }

  const contents = async ({ rows }: OpenedDatabase): Promise<string[][]> => {
    const all: string[][] = [];
    for (const table of ['assets', 'creators', 'files']) all.push((await rows(`SELECT * FROM ${table}`)).sort());
    return all;
  };

  inOne()('of an export without the table assets counts the ids of its child tables', async () => {
    const database = await opened(kind);
    const flags = { format: 'csv', tables: 'creators,files' };
    const whole = await exportNight({ record: firstNight, flags });
    const cut = await exportNight({ record: firstNight, flags, ids: assetIds.slice(0, 20) });
    await load(database, whole);
    const held = await database.rows('SELECT count(*) FROM files');
    const most = { maxDeletes: '10%', note: () => undefined };
    await expect(load(database, cut, most)).rejects.toMatchObject({
      exit: 'notTolerated',
      message: expect.stringMatching(
        /^1\d\d of \d+ assets would be deleted: unlisted 1\d\d, missing 0, failed 0$/,
      ) as string,
    });
    expect(await database.rows('SELECT count(*) FROM files')).toEqual(held);
    await database.rows('ALTER TABLE files DROP COLUMN mime');
    await expect(load(database, cut, most)).rejects.toMatchObject({ exit: 'notTolerated' });
    expect(
      await database.rows(
        `SELECT 1 FROM information_schema.columns WHERE table_name = 'files' AND column_name = 'mime'`,
      ),
    ).toEqual([]);
    await load(database, cut, { maxDeletes: '100%' });
    expect(Number((await database.rows('SELECT count(*) FROM files'))[0])).toBeLessThan(50);
  });

  test('brings the tables of one night to those of the next, and what was changed by hand back', async () => {
    const next = await opened(kind);
    await load(next, nights[1]);
    const wanted = await contents(next);
    const database = await opened(kind);
    await load(database, nights[0]);
    const { summary } = await load(database, nights[1]);
    expect(summary).toMatchObject({ state: 'loaded', deleted: 6, tables: { assets: 214 } });
    expect(await contents(database)).toEqual(wanted);
    await database.rows(`DELETE FROM creators WHERE position = 0`);
    await database.rows(`UPDATE assets SET ownership_owner = NULL, extra = '{}'`);
    await database.rows(`INSERT INTO files (asset_id, position) VALUES ('x', 1)`);
    await load(database, nights[1]);
    expect(await contents(database)).toEqual(wanted);
    expect(
      await database.rows(
        `SELECT "table", export, started_at IS NOT NULL, "rows", deleted FROM _asset_export_loads ORDER BY 1`,
      ),
    ).toEqual([
      expect.stringMatching(/^assets\|date=2026-11-21\|(t|true)\|214\|0$/),
      expect.stringMatching(/^creators\|date=2026-11-21\|/),
      expect.stringMatching(/^files\|date=2026-11-21\|(t|true)\|\d+\|1$/),
    ]);
  });

  inOne('postgres')('names the tables that it does not have and an earlier export filled', async () => {
    const database = await opened(kind);
    await load(database, nights[0]);
    const flags = { format: 'csv', columns: fewColumns, tables: 'assets,creators' };
    const fewer = await exportNight({ record: firstNight, flags, out: join(folder.path, `fewer-${kind}`) });
    const { notes } = await load(database, fewer);
    expect(notes.at(-1)).toContain('so they stay as an earlier load left them: files (of date=2026-11-20). Drop them');
    await database.rows('DROP TABLE files');
    expect((await load(database, fewer)).notes).toEqual([]);
  });

  test('keeps the columns of a user, and rows that did not change where they are', async () => {
    const database = await opened(kind);
    await load(database, nights[0]);
    await database.rows('ALTER TABLE assets ADD COLUMN note text');
    await database.rows(`UPDATE assets SET note = 'mine'`);
    const before = kind === 'postgres' ? await database.rows('SELECT id, ctid FROM assets') : [];
    await load(database, nights[1]);
    expect(await database.rows(`SELECT count(*), count(note) FROM assets`)).toEqual(['214|194']);
    if (kind === 'duckdb') return;
    const after = new Set(await database.rows('SELECT id, ctid FROM assets'));
    expect(before.filter((row) => after.has(row)).length).toBeGreaterThan(100);
  });

  inOne()('takes tables whose keys are not unique, and exports without a key, with a line', async () => {
    const database = await opened(kind);
    await load(database, nights[0]);
    if (kind === 'postgres') await database.rows('ALTER TABLE assets DROP CONSTRAINT assets_pkey');
    await database.rows('INSERT INTO assets SELECT * FROM assets');
    const { notes } = await load(database, nights[0], { maxDeletes: '100%' });
    // A file of DuckDB is made anew.
    if (kind === 'postgres')
      expect(notes).toContainEqual('the key of the table assets is not unique: 400 rows were deleted and inserted');
    expect(await database.rows('SELECT count(*), count(DISTINCT id) FROM assets')).toEqual(['200|200']);
    const other = await opened(kind);
    await load(other, withoutId);
    const again = await load(other, withoutId);
    if (kind === 'postgres')
      expect(again.notes).toContainEqual('the table assets has no key: all its rows were deleted and inserted');
    expect(await other.rows('SELECT count(*) FROM assets')).toEqual(['200']);
  });

  inOne('postgres')('refuses an older night, and what it says can be typed', async () => {
    const database = await opened(kind);
    await load(database, nights[1]);
    const before = await contents(database);
    const typed = ['load', nights[0] ?? '', '--to', database.address];
    const refused = await runHere(typed);
    expect(refused.exit, refused.stderr).toBe(2);
    const moment = String.raw`20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC`;
    expect(refused.stderr).toMatch(
      new RegExp(
        String.raw`: date=2026-11-20 \(started ${moment}\) is older: the table assets holds date=2026-11-21 \(started ${moment}, loaded ${moment}\)
  Nothing was loaded. To replace the rows by the older ones, add --allow-older. Or load into other tables with --schema or --prefix.\n$`,
      ),
    );
    expect(await contents(database)).toEqual(before);
    // A copy without the history of its runs says the same.
    const copy = join(folder.path, 'copy');
    await cp(nights[0] ?? '', copy, { recursive: true });
    await rm(join(copy, 'runs.jsonl'));
    await expect(load(database, copy)).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(/^copy \(started .*\) is older: /) as string,
    });
    // One of an older version, whose manifest does not say when it began, may be older.
    const unknown = join(folder.path, 'unknown');
    await cp(copy, unknown, { recursive: true });
    const manifest = await requireManifest(localDisk, unknown);
    await writeManifest(localDisk, unknown, { ...manifest, startedAtMs: undefined });
    await expect(load(database, unknown)).rejects.toMatchObject({
      exit: 'usage',
      message: expect.stringMatching(/^unknown does not say when it started, so it may be older: /) as string,
      todo: expect.stringContaining('--allow-older') as string,
    });
    expect((await runHere([...typed, '--prefix', 'other_'])).exit).toBe(0);
    const allowed = await runHere([...typed, '--mode', 'replace', '--allow-older', '--max-deletes', '20']);
    expect(allowed.exit, allowed.stderr).toBe(0);
    expect(await database.rows('SELECT count(*) FROM assets')).toEqual(['200']);
  });

  inOne()('refuses too many deletes, says why they would be deleted, and counts with a flag', async () => {
    const database = await opened(kind);
    await load(database, nights[0]);
    const before = await contents(database);
    const typed = ['load', nights[1] ?? '', '--to', database.address, '--max-deletes'];
    const refused = await runHere([...typed, '2%']);
    expect(refused.exit, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('6 of 200 assets would be deleted: unlisted 5, missing 1, failed 0');
    expect(refused.stderr).toContain('--max-deletes 100%');
    expect(await contents(database)).toEqual(before);
    expect((await runHere([...typed, '5'])).exit).toBe(3);
    expect((await runHere([...typed, '6'])).exit).toBe(0);
  });

  inOne('postgres')('takes a table of loads of version 0.1', async () => {
    const database = await opened(kind);
    await load(database, nights[0]);
    for (const column of ['export', 'started_at', 'rows', 'deleted', 'nul_values', 'way', 'columns'])
      await database.rows(`ALTER TABLE _asset_export_loads DROP COLUMN "${column}"`);
    const { notes } = await load(database, nights[1]);
    expect(notes.filter((text) => !text.startsWith('loading in place'))).toEqual([]);
    expect(await database.rows('SELECT count(export) FROM _asset_export_loads')).toEqual(['3']);
  });
});
