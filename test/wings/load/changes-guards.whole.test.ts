import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  assetIds,
  exportNight,
  fewColumns,
  firstNight,
  secondNight,
  thirdNight,
} from '../warehouse/diff/two-nights.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { loadModes } from '../../../src/wings/load/load-record.ts';
import { runsAll } from '../../support/lane.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases, inOneEngine } from './both-databases.ts';
import { sampled } from '../../model/support/sample.ts';

const server = await postgresOfTests('guards of changes are not tested in PostgreSQL');
const opened = emptyDatabases(server);

/** Three nights beside each other, the later ones with the changes of the one before. */
const nights: string[] = [];
let folder: Awaited<ReturnType<typeof keptFolder>>;

beforeAll(async () => {
  folder = await keptFolder();
  const listed = [
    assetIds,
    assetIds.filter((_, n) => n < 195 || n > 199),
    assetIds.filter((_, n) => n < 195 || n > 199),
  ];
  for (const [index, record] of [firstNight, secondNight, thirdNight].entries()) {
    const base = { base: nights.at(-1) ?? 'none', 'max-age': '0d', 'missing-after': '0d' };
    const flags = { ...base, tables: 'assets,creators,files,changes', format: 'csv,raw', columns: fewColumns };
    const out = join(folder.path, `date=2026-11-2${index}`);
    nights.push(await exportNight({ record, ids: listed[index] ?? [], flags, out }));
  }
}, 120_000);

afterAll(() => folder.remove());

const night = (index: number): string => nights[index] ?? '';

describe.each(['duckdb', 'postgres'] as const)('changes in %s', (kind) => {
  const test = it.skipIf(kind === 'postgres' && server.isMissing);
  /** `npm test` runs each mode in one engine. */
  const modes = runsAll ? loadModes : loadModes.filter((mode) => (mode === 'replace') === (kind === 'duckdb'));
  const inOne = inOneEngine(kind, test);

  inOne('postgres')('of a night of equal content move the record to it, and never back', async () => {
    const mode = 'scd2';
    const database = await opened(kind);
    const parent = await tempFolder();
    const ids = join(parent, 'ids.txt');
    await writeFile(ids, assetIds.join('\n'));
    const made = (record: typeof firstNight, name: string) =>
      exportNight({ record, flags: { ids, format: 'csv', columns: fewColumns }, out: join(parent, name) });
    const first = await made(firstNight, 'first');
    const between = await made(secondNight, 'between');
    const again = await made(firstNight, 'again');
    const line = (out: string, how: string) => ['load', out, '--to', database.address, '--mode', how];
    expect((await runHere(line(first, mode))).exit).toBe(0);
    await database.rows(`UPDATE _asset_export_loads SET "at" = CAST('2001-01-01' AS timestamp with time zone)`);
    const records = `SELECT DISTINCT export, extract(year FROM "at") > 2001 FROM _asset_export_loads`;
    expect((await runHere(line(first, mode))).exit).toBe(0);
    expect(await database.rows(records)).toEqual([expect.stringMatching(/^first\|f/)]);
    for (const out of [again, first]) {
      const same = await runHere(line(out, mode));
      expect(same.exit, same.stderr).toBe(0);
      expect(same.stdout + same.stderr).toContain('already');
      expect(await database.rows(records)).toEqual([expect.stringMatching(/^again\|t/)]);
    }
    const older = await runHere(line(between, mode));
    expect(older.exit, older.stderr).toBe(2);
    expect(older.stderr).toMatch(/between \(started .*\) is older: the table assets holds again \(started /);
  });

  const refusals = [
    ['too many would be deleted', 'replace', ['replace', '--max-deletes', '2', '--deletes', 'mark'], 3],
    ['too many would be deleted', 'scd2', ['scd2', '--max-deletes', '2'], 3],
    ['too many would be deleted', 'replace', ['replace', '--max-deletes', '2'], 3],
    ['the mode is another', 'scd2', ['replace'], 2],
    ['the mode is another', 'replace', ['scd2'], 2],
  ] as const;
  inOne().each(sampled(refusals, 3))('that are refused because %s (%s) add no column', async (_, first, how, exit) => {
    const database = await opened(kind);
    const line = (out: string, mode: readonly string[]) => ['load', out, '--to', database.address, '--mode', ...mode];
    expect((await runHere(line(night(0), [first]))).exit).toBe(0);
    await database.rows('ALTER TABLE assets DROP COLUMN burnt');
    const refused = await runHere(line(night(1), how));
    expect(refused.exit, refused.stderr).toBe(exit);
    const added = `SELECT column_name FROM information_schema.columns WHERE table_name = 'assets' AND column_name IN ('burnt', 'deleted_at')`;
    expect(await database.rows(added)).toEqual([]);
    expect(await database.rows('SELECT count(*) FROM assets')).toEqual(['200']);
    const taken = await runHere(line(night(1), [first, '--max-deletes', '10%']));
    expect(taken.exit, taken.stderr).toBe(0);
    expect(await database.rows(added)).toEqual(['burnt']);
  });

  test.each(modes)('may delete all assets with --allow-empty: --mode %s', async (mode) => {
    const database = await opened(kind);
    const line = (out: string) => ['load', out, '--to', database.address, '--mode', mode, '--max-deletes', '2'];
    expect((await runHere(line(night(0)))).exit).toBe(0);
    expect((await runHere(line(night(1)))).exit).toBe(3);
    const allowed = await runHere([...line(night(1)), '--allow-empty']);
    expect(allowed.exit, allowed.stderr).toBe(0);
  });

  inOne('postgres')('keep the values of own columns of updated assets, and rows that refer to them', async () => {
    const database = await opened(kind);
    const line = (out: string) => ['load', out, '--to', database.address, '--max-deletes', '10%'];
    expect((await runHere(line(night(0)))).exit).toBe(0);
    await database.rows(`ALTER TABLE assets ADD COLUMN note text; UPDATE assets SET note = 'edited';
      CREATE TABLE sales AS SELECT id FROM assets`);
    if (kind === 'postgres')
      await database.rows('ALTER TABLE sales ADD FOREIGN KEY (id) REFERENCES assets (id) ON DELETE CASCADE');
    const merged = await runHere(line(night(1)));
    expect(merged.exit, merged.stderr).toBe(0);
    // Six are gone, twenty are new.
    expect(await database.rows('SELECT count(*), count(note) FROM assets')).toEqual(['214|194']);
    if (kind === 'postgres') expect(await database.rows('SELECT count(*) FROM sales')).toEqual(['194']);
  });

  inOne()('with another name of the key would replace all rows, and add no column unless they may', async () => {
    const database = await opened(kind);
    const first = await exportNight({ record: firstNight, flags: { format: 'csv', columns: fewColumns } });
    const named = await exportNight({
      record: secondNight,
      flags: { rename: 'id=mint', format: 'csv', columns: fewColumns },
    });
    const line = (out: string, most: string) => ['load', out, '--to', database.address, '--max-deletes', most];
    expect((await runHere(line(first, '5%'))).exit).toBe(0);
    const refused = await runHere(line(named, '5%'));
    expect(refused.exit, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('200 of 200 assets would be deleted');
    const added = `SELECT column_name FROM information_schema.columns WHERE table_name = 'assets' AND column_name = 'mint'`;
    expect(await database.rows(added)).toEqual([]);
    if (kind === 'postgres') await database.rows('ALTER TABLE assets DROP CONSTRAINT assets_pkey');
    await database.rows('ALTER TABLE assets ALTER id DROP NOT NULL');
    const replaced = await runHere(line(named, '100%'));
    expect(replaced.exit, replaced.stderr).toBe(0);
    expect(await database.rows('SELECT count(mint), count(id) FROM assets')).toEqual(['219|0']);
  });

  inOne('postgres')(
    'of a clock that went back after a night of deletes are refused, and no versions overlap',
    async () => {
      const database = await opened(kind);
      const line = (out: string) => ['load', out, '--to', database.address, '--mode', 'scd2', '--max-deletes', '10%'];
      expect((await runHere(line(night(0)))).exit).toBe(0);
      expect((await runHere(line(night(1)))).exit).toBe(0);
      const late = `CAST('2126-11-20' AS timestamp with time zone)`;
      await database.rows(`UPDATE assets SET valid_to = ${late} WHERE valid_to IS NOT NULL`);
      const refused = await runHere(line(night(2)));
      expect(refused.exit, refused.stderr).toBe(2);
      expect(refused.stderr).toContain('started before the newest rows');
      const overlaps = `SELECT count(*) FROM assets a JOIN assets b USING (id) WHERE a.valid_from < b.valid_from AND (a.valid_to IS NULL OR a.valid_to > b.valid_from) AND a.valid_to <> ${late}`;
      expect(await database.rows(overlaps)).toEqual(['0']);
    },
  );

  inOne()('say how many deletes are unlisted, missing and failed', async () => {
    const database = await opened(kind);
    const line = (out: string, most: string) => ['load', out, '--to', database.address, '--max-deletes', most];
    expect((await runHere(line(night(0), '5%'))).exit).toBe(0);
    const refused = await runHere(line(night(1), '2'));
    expect(refused.exit, refused.stderr).toBe(3);
    expect(refused.stderr).toContain('6 of 200 assets would be deleted: unlisted 5, missing 1, failed 0');
  });

  inOne('postgres')('that are marked go when a later night deletes', async () => {
    const database = await opened(kind);
    const line = (out: string, rule: string) => [
      'load',
      out,
      '--to',
      database.address,
      '--max-deletes',
      '10%',
      '--deletes',
      rule,
    ];
    expect((await runHere(line(night(0), 'delete'))).exit).toBe(0);
    expect((await runHere(line(night(1), 'mark'))).exit).toBe(0);
    const merged = await runHere(line(night(2), 'delete'));
    expect(merged.exit, merged.stderr).toBe(0);
    expect(await database.rows('SELECT count(deleted_at) FROM assets')).toEqual(['0']);
  });
});

describe('DuckDB', () => {
  it('that lacks columns gets them, and of another type the printed ALTER works', async () => {
    const database = await opened('duckdb');
    const line = ['load', night(0), '--to', database.address];
    expect((await runHere(line)).exit).toBe(0);
    await database.rows('ALTER TABLE assets DROP COLUMN burnt; ALTER TABLE assets DROP COLUMN interface');
    const loaded = await runHere(line);
    expect(loaded.exit, loaded.stderr).toBe(0);
    expect(await database.rows('SELECT count(interface) > 0 FROM assets')).toEqual(['true']);
    await database.rows('ALTER TABLE assets ALTER COLUMN ownership_owner TYPE INTEGER USING 1');
    const failed = await runHere(line);
    expect(failed.exit, failed.stderr).toBe(9);
    const statements = failed.stderr.split('\n').filter((text) => text.trim().startsWith('ALTER TABLE'));
    expect(statements).toHaveLength(1);
    await database.rows(statements.join('\n'));
    expect((await runHere(line)).exit).toBe(0);
  });

  it('in memory is refused, and a folder that is absent is named: exit 2, 7', async () => {
    const lost = await runHere(['load', night(0), '--to', 'duckdb::memory:']);
    expect(lost.exit, lost.stderr).toBe(2);
    expect(lost.stderr).toContain('nothing would be kept');
    const file = join(await tempFolder(), 'not', 'there.duckdb');
    for (const mode of ['replace', 'scd2']) {
      const absent = await runHere(['load', night(0), '--to', `duckdb:${file}`, '--mode', mode]);
      expect(absent.exit, absent.stderr).toBe(7);
      expect(absent.stderr).toMatch(/not\/there.duckdb.*No such file or directory[^]*Create the folder/);
    }
    await mkdir(dirname(file));
    expect((await runHere(['load', night(0), '--to', `duckdb:${file}`])).exit).toBe(0);
  });

  it('held by another process: exit 5 with its pid', async () => {
    const file = join(await tempFolder(), 'a.duckdb');
    const script = `const { DuckDBInstance } = await import('@duckdb/node-api');
      const instance = await DuckDBInstance.create(process.argv[1]); await instance.connect();
      process.stdout.write('held'); setInterval(() => instance, 1000);`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script, file], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void holder.kill());
    await once(holder.stdout, 'data');
    const refused = await runHere(['load', night(0), '--to', `duckdb:${file}`]);
    expect(refused.exit, refused.stderr).toBe(5);
    expect(refused.stderr).toContain(`is held by the process ${holder.pid ?? ''}`);
  });
});
