import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { runHere } from '../../support/run-here.ts';
import { keptFolder, tempFolder } from '../../support/temp-folder.ts';
import { localExports, request } from './local-exports.ts';
import { runsAll } from '../../support/lane.ts';
import { sampled } from '../../model/support/sample.ts';

const { exported, shared } = await localExports();
const loadedFiles = await keptFolder();
afterAll(() => loadedFiles.remove());

async function rows(file: string, sql: string): Promise<unknown[]> {
  const instance = await DuckDBInstance.create(file);
  const connection = await instance.connect();
  try {
    return (await connection.runAndReadAll(sql)).getRowsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

interface Loaded {
  readonly folder: string;
  readonly file: string;
  readonly load: (folder: string, more?: Partial<LoadRequest>) => Promise<string[]>;
}

/** Files that hold an export of 60 assets, by schema: it is loaded once, and copied for each test. */
const loaded = new Map<string | undefined, Promise<string>>();

async function loadFirst(schema: string | undefined): Promise<string> {
  const file = join(loadedFiles.path, `${schema ?? 'main'}.duckdb`);
  await loadExport({ ...request(await shared(60), 'duckdb'), schema }, parseTarget(`duckdb:${file}`, '/'));
  return file;
}

/** A DuckDB file that holds an export of 60 assets, older than all that a test then asks for. */
async function loadedFile(schema?: string, name = 'wh.duckdb'): Promise<Loaded> {
  const folder = await tempFolder();
  const file = join(folder, name);
  const load = async (out: string, more: Partial<LoadRequest> = {}): Promise<string[]> => {
    const notes: string[] = [];
    const note = (text: string) => notes.push(text);
    await loadExport({ ...request(out, 'duckdb'), schema, note, ...more }, parseTarget(`duckdb:${file}`, '/'));
    return notes;
  };
  const first = loaded.get(schema) ?? loadFirst(schema);
  loaded.set(schema, first);
  copyFileSync(await first, file);
  return { folder, file, load };
}

describe('replace of a DuckDB file', () => {
  it.each(runsAll ? [undefined, 'raw'] : ['raw'])(
    'keeps the comments of views, tables and columns. Schema: %s',
    async (schema) => {
      const { file, load } = await loadedFile(schema);
      const at = schema === undefined ? '' : `${schema}.`;
      await rows(
        file,
        `CREATE VIEW ${at}vv AS SELECT id FROM ${at}assets; COMMENT ON VIEW ${at}vv IS 'it''s a view'; COMMENT ON COLUMN ${at}vv.id IS 'of the view';
      COMMENT ON TABLE ${at}assets IS 'my table'; COMMENT ON COLUMN ${at}assets.burnt IS 'my column'`,
      );
      expect(await load(await shared(80))).toEqual([]);
      expect(await rows(file, `SELECT "comment" FROM duckdb_views() WHERE view_name = 'vv'`)).toEqual([
        ["it's a view"],
      ]);
      expect(await rows(file, `SELECT "comment" FROM duckdb_tables() WHERE table_name = 'assets'`)).toEqual([
        ['my table'],
      ]);
      const columns = `SELECT "comment" FROM duckdb_columns() WHERE table_name IN ('vv', 'assets') AND column_name IN ('burnt', 'id') ORDER BY table_name, column_name`;
      expect(await rows(file, columns)).toEqual([['my column'], [expect.stringContaining('')], ['of the view']]);
    },
  );

  it.each(runsAll ? [undefined, 'raw'] : ['raw'])(
    'makes a new one: views stay, readers go on, nothing is left. Schema: %s',
    async (schema) => {
      const { folder, file, load } = await loadedFile(schema);
      const next = await shared(80);
      const at = schema === undefined ? '' : `${schema}.`;
      await rows(
        file,
        `CREATE VIEW ${at}burnt AS SELECT id FROM ${at}assets; CREATE VIEW ${at}two AS SELECT * FROM ${at}burnt, ${at}creators;
      CREATE VIEW whole AS SELECT * FROM wh.${schema ?? 'main'}.assets`,
      );
      chmodSync(file, 0o640);
      writeFileSync(`${file}.new-0123abcd`, 'what a killed load left');
      const reader = await DuckDBInstance.create(file, { access_mode: 'READ_ONLY' });
      onTestFinished(() => {
        reader.closeSync();
      });
      const connection = await reader.connect();
      const inode = statSync(file).ino;
      expect(await load(next)).toEqual([]);
      const count = `SELECT count(*) FROM ${at}assets`;
      expect((await connection.runAndReadAll(count)).getRowsJson()).toEqual([['60']]);
      expect(statSync(file).ino).not.toBe(inode);
      expect(statSync(file).mode & 0o777).toBe(0o640);
      expect(readdirSync(folder)).toEqual(['wh.duckdb']);
      expect(await rows(file, count)).toEqual([['80']]);
      expect(await rows(file, `SELECT (SELECT count(*) FROM ${at}burnt), (SELECT count(*) FROM whole)`)).toEqual([
        ['80', '80'],
      ]);
    },
  );

  const names = [
    ['main.db', 'main_db'],
    ['temp.duckdb', 'temp_db'],
    ['system.db', 'system_db'],
    ['memory.db', undefined],
    ['pg_catalog.db', undefined],
    ['information_schema.db', undefined],
    ['wh.of.mine.db', 'wh'],
    ['.hidden.db', 'hidden'],
  ] as const;
  it.each(sampled(names, 4))('makes a new one of %s', async (name, database) => {
    const { file, load } = await loadedFile(undefined, name);
    const from = database === undefined ? 'assets' : `${database}.main.assets`;
    await rows(file, `CREATE VIEW v AS SELECT * FROM ${from}`);
    expect(await load(await shared(61))).toEqual([]);
    expect(await rows(file, 'SELECT count(*) FROM v')).toEqual([['61']]);
  });

  it('follows a link', async () => {
    const { folder, file, load } = await loadedFile();
    const link = join(folder, 'latest.duckdb');
    symlinkSync('wh.duckdb', link);
    const next = await shared(80);
    await loadExport(request(next, 'duckdb'), parseTarget(`duckdb:${link}`, '/'));
    expect(await rows(file, 'SELECT count(*) FROM assets')).toEqual([['80']]);
    await load(next);
    expect(readdirSync(folder)).toEqual(['latest.duckdb', 'wh.duckdb']);
  });

  it('removes nothing but files that loads left', async () => {
    const { folder, file, load } = await loadedFile();
    const others = ['design.db', 'notes.txt', '0123abcd.db', '0123ABCD', '0123abcd0'];
    for (const name of [...others, '0123abcd', '0123abcd.wal']) writeFileSync(`${file}.new-${name}`, name);
    mkdirSync(`${file}.new-01234567/x`, { recursive: true });
    symlinkSync('wh.duckdb.new-notes.txt', `${file}.new-89abcdef`);
    const kept = ['wh.duckdb', ...[...others, '01234567', '89abcdef'].map((name) => `wh.duckdb.new-${name}`)];
    await load(await shared(80));
    expect(readdirSync(folder).sort()).toEqual(kept.sort());
  });

  it('of two at once the second ends with exit 5, and no load is lost', async () => {
    const { folder, file, load } = await loadedFile();
    const nights = [await shared(61), await shared(62)];
    const ends = await Promise.allSettled(nights.map((night) => load(night)));
    const failed = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
    expect(failed).toMatchObject([{ exit: 'unavailable', facts: { pid: process.pid } }]);
    const won = ends.findIndex(({ status }) => status === 'fulfilled');
    expect(await rows(file, 'SELECT count(*) FROM assets')).toEqual([[String(61 + won)]]);
    expect(readdirSync(folder)).toEqual(['wh.duckdb']);
  });

  it('goes in place where the file cannot be locked', async () => {
    const { folder, file, load } = await loadedFile();
    writeFileSync(`${file}.lock`, 'of another program');
    expect(await load(await shared(61))).toEqual([expect.stringMatching(/^loading in place: cannot lock /)]);
    expect(await rows(file, 'SELECT count(*) FROM assets')).toEqual([['61']]);
    expect(readdirSync(folder)).toEqual(['wh.duckdb', 'wh.duckdb.lock']);
  });

  it('does not double it', async () => {
    const { file, load } = await loadedFile();
    const next = await shared(80);
    await load(next);
    const first = statSync(file).size;
    await load(next);
    expect(statSync(file).size).toBeLessThanOrEqual(first * 1.05);
  });

  const kept = [
    ['a foreign table', 'CREATE TABLE mine AS SELECT 1 AS n', 'the table main.mine', 'SELECT n FROM mine'],
    [
      'another schema',
      'CREATE SCHEMA s; CREATE TABLE s.mine AS SELECT 1 AS n',
      'the table s.mine',
      'SELECT n FROM s.mine',
    ],
    ['a column', 'ALTER TABLE assets ADD COLUMN n INTEGER DEFAULT 1', 'other columns', 'SELECT max(n) FROM assets'],
    [
      'NOT NULL',
      'ALTER TABLE assets ALTER interface SET NOT NULL',
      'NOT NULL on the column interface',
      `SELECT CAST(count(*) AS INTEGER) FROM duckdb_columns() WHERE column_name = 'interface' AND NOT is_nullable`,
    ],
    [
      'a schema',
      'CREATE SCHEMA mine',
      'the schema mine',
      `SELECT CAST(count(*) AS INTEGER) FROM duckdb_schemas() WHERE schema_name = 'mine'`,
    ],
    ['an index', 'CREATE INDEX mine ON assets (id)', 'the index mine', 'SELECT 1'],
    ['a macro', 'CREATE MACRO mine() AS 1', 'the macro mine', 'SELECT mine()'],
    ['a sequence', 'CREATE SEQUENCE mine', 'the sequence mine', `SELECT CAST(nextval('mine') AS INTEGER)`],
    ['a type', `CREATE TYPE mine AS ENUM ('a')`, 'the type mine', `SELECT CASE CAST('a' AS mine) WHEN 'a' THEN 1 END`],
    ['a wider type', 'ALTER TABLE creators ALTER COLUMN share TYPE HUGEINT', 'other columns', 'SELECT 1'],
  ] as const;
  it.each(sampled(kept, 4))('goes in place where it holds %s, which stays', async (_, sql, why, found) => {
    const { file, load } = await loadedFile();
    await rows(file, sql);
    const notes = await load(await shared(61));
    expect(notes).toEqual([expect.stringMatching(/^loading in place: /)]);
    expect(notes[0]).toContain(why);
    expect(await rows(file, found)).toEqual([[1]]);
    expect(await rows(file, 'SELECT count(*) FROM assets')).toEqual([['61']]);
  });

  it('writes a new file where the old one lacks columns of the export, unless these are to fail or hold the key', async () => {
    const { file, load } = await loadedFile();
    await rows(file, 'ALTER TABLE assets DROP COLUMN burnt; ALTER TABLE creators DROP COLUMN share');
    await expect(load(await shared(61), { newColumns: 'fail' })).rejects.toMatchObject({ exit: 'loadFailed' });
    const inode = statSync(file).ino;
    expect(await load(await shared(61))).toEqual([]);
    expect(statSync(file).ino).not.toBe(inode);
    expect(await rows(file, 'SELECT count(burnt), (SELECT count(share) > 0 FROM creators) FROM assets')).toEqual([
      ['61', true],
    ]);
    await rows(file, 'ALTER TABLE creators DROP COLUMN "position"');
    expect((await load(await shared(60), { allowOlder: true }))[0]).toContain(
      'loading in place: the table creators has other columns',
    );
  });

  // Only root, or a member of another group, can give a file away.
  const groups = process.getgroups?.() ?? [];
  const other = process.getuid?.() === 0 ? 1 : groups.find((group) => group !== process.getegid?.());
  it.skipIf(other === undefined)('keeps the group of the file', async () => {
    const { file, load } = await loadedFile();
    chownSync(file, process.getuid?.() ?? 0, other ?? 0);
    chmodSync(file, 0o640);
    const inode = statSync(file).ino;
    expect(await load(await shared(80))).toEqual([]);
    expect(statSync(file)).toMatchObject({ gid: other, uid: process.getuid?.() });
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(statSync(file).ino).not.toBe(inode);
  });

  it('goes in place where a write-ahead log lies beside it', async () => {
    const { file, load } = await loadedFile();
    const script = `PRAGMA disable_checkpoint_on_shutdown; CREATE VIEW v AS SELECT 1 AS n`;
    await rows(file, script);
    expect(statSync(`${file}.wal`).size).toBeGreaterThan(0);
    expect(await load(await shared(61))).toEqual([expect.stringMatching(/\.wal lies beside/)]);
    expect(await rows(file, 'SELECT count(*), (SELECT n FROM v) FROM assets')).toEqual([['61', 1]]);
  });

  it('has the guards of the old file, and a refused one leaves it', async () => {
    const older = await exported(50);
    const { folder, file, load } = await loadedFile();
    await load(await exported(60));
    await expect(load(older)).rejects.toMatchObject({ todo: expect.stringContaining('--allow-older') as string });
    await expect(load(older, { allowOlder: true })).rejects.toMatchObject({ exit: 'notTolerated' });
    await expect(load(await exported(50))).rejects.toThrow('10 of 60 assets would be deleted: unlisted 10');
    await expect(load(await exported(0))).rejects.toThrow('refusing to empty');
    expect(await rows(file, 'SELECT count(*) FROM assets')).toEqual([['60']]);
    expect(readdirSync(folder)).toEqual(['wh.duckdb']);
    await load(older, { allowOlder: true, maxDeletes: '10' });
    expect(await rows(file, `SELECT deleted FROM _asset_export_loads WHERE "table" = 'assets'`)).toEqual([['10']]);
  });

  it('of versions is refused', async () => {
    const { file } = await loadedFile();
    await rows(file, `UPDATE _asset_export_loads SET mode = 'scd2'`);
    const refused = await runHere(['load', await shared(60), '--to', `duckdb:${file}`]);
    expect(refused.exit, refused.stderr).toBe(2);
  });
});

it('memory that is too small: exit 7, and the flag is named', async () => {
  const folder = await exported(100, { format: 'jsonl', tables: 'assets' });
  const target = parseTarget(`duckdb:${join(await tempFolder(), 'a.duckdb')}`, '/');
  await expect(loadExport({ ...request(folder, 'duckdb'), memoryBytes: 20e6 }, target)).rejects.toMatchObject({
    exit: 'cannotWrite',
    todo: expect.stringContaining('--memory') as string,
  });
});

it('--memory is refused with PostgreSQL', async () => {
  const refused = await runHere(['load', await exported(10), '--to', 'postgres://db.invalid/x', '--memory', '1GB']);
  expect(refused.exit, refused.stderr).toBe(2);
  expect(refused.stderr).toContain('--memory');
});
