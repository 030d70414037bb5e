import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { diffExports } from '../../../src/wings/warehouse/diff/diff-exports.ts';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { loadModes } from '../../../src/wings/load/load-record.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { assetIds, exportNight, fewColumns, firstNight, secondNight } from '../warehouse/diff/two-nights.ts';
import { runsAll } from '../../support/lane.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';
import { sampled } from '../../model/support/sample.ts';

const server = await postgresOfTests('guards of loads are not tested in PostgreSQL');
const { query, address, isMissing } = server;
const opened = emptyDatabases(server);

const nights: string[] = [];
let diff = '';
let folder: Awaited<ReturnType<typeof keptFolder>>;

beforeAll(async () => {
  folder = await keptFolder();
  const ids = assetIds.filter((_, n) => n < 195 || n > 199);
  for (const [index, record] of [firstNight, secondNight].entries()) {
    const night = { record, ids: index === 1 ? ids : assetIds, flags: { format: 'csv', columns: fewColumns } };
    nights.push(await exportNight({ ...night, out: join(folder.path, `date=2026-11-2${index}`) }));
  }
  diff = join(folder.path, 'changes');
  const [from = '', to = ''] = nights;
  await diffExports({ files: localDisk, from, to, out: diff, memoryBytes: 300e6, ignored: [], version: '0' });
}, 120_000);

afterAll(() => folder.remove());

const target = parseTarget(address, '/');

const load = async (night: string | undefined, more: Partial<LoadRequest> = {}, to = target): Promise<string[]> => {
  const notes: string[] = [];
  const note = (text: string) => notes.push(text);
  const request = { files: localDisk, folder: night ?? '', kind: 'postgres', mode: 'replace', note } as const;
  await loadExport({ ...request, ...more }, to);
  return notes;
};

/** The export of the second night, as a mode takes it after the first. */
const nextOf = (mode: LoadRequest['mode']): string => (mode === 'scd2' ? diff : (nights[1] ?? ''));

async function client(): Promise<pg.Client> {
  const made = new pg.Client({ connectionString: address });
  await made.connect();
  onTestFinished(() => made.end());
  return made;
}

/** The two ways in which rows come: whole, and as changes. */
const modes = loadModes;

describe.skipIf(isMissing)('rights', () => {
  it.each(modes)('a role without CREATE loads with --mode %s', async (mode) => {
    await opened('postgres');
    const first = mode === 'scd2' ? 'scd2' : 'replace';
    await load(nights[0], { mode: first });
    await query(`DROP ROLE IF EXISTS loader; CREATE ROLE loader LOGIN;
      REVOKE ALL ON SCHEMA public FROM PUBLIC; GRANT USAGE ON SCHEMA public TO loader;
      GRANT SELECT, INSERT, UPDATE, DELETE ON assets, creators, files, _asset_export_loads TO loader`);
    const loader = parseTarget(address.replace('user=tester', 'user=loader'), '/');
    const notes = await load(nextOf(mode), { mode }, loader);
    expect(notes).toContainEqual(expect.stringMatching(/skipping "assets" --- only .* can analyze it/));
    expect(await query('SELECT count(*) > 200 FROM assets')).toMatch(/^[tf]\n$/);
  });

  it('names the statements for the owner when the table of loads is of version 0.1', async () => {
    await opened('postgres');
    await load(nights[0]);
    await query(`ALTER TABLE _asset_export_loads DROP COLUMN export, DROP COLUMN nul_values;
      DROP ROLE IF EXISTS loader; CREATE ROLE loader LOGIN; GRANT USAGE ON SCHEMA public TO loader;
      GRANT SELECT, INSERT, UPDATE, DELETE ON assets, creators, files, _asset_export_loads TO loader`);
    const to = address.replace('user=tester', 'user=loader');
    const refused = await runHere(['load', nights[1] ?? '', '--to', to]);
    expect(refused.exit, refused.stderr).toBe(9);
    const statements = refused.stderr.split('\n').filter((line) => line.trim().startsWith('ALTER TABLE'));
    expect(statements).toHaveLength(2);
    await query(statements.join('\n'));
    const done = await runHere(['load', nights[1] ?? '', '--to', to]);
    expect(done.exit, done.stderr).toBe(0);
  });
});

describe.skipIf(isMissing)('a table that somebody holds', () => {
  it.each(modes)('ends --mode %s with exit 5, and table and pid are named', async (mode) => {
    await opened('postgres');
    await load(nights[0], { mode: mode === 'scd2' ? 'scd2' : 'replace' });
    const holder = await client();
    const { rows } = await holder.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await holder.query('BEGIN; LOCK TABLE assets IN ACCESS EXCLUSIVE MODE');
    const to = parseTarget(`${address}&lock_timeout=200`, '/');
    await expect(load(nextOf(mode), { mode }, to)).rejects.toMatchObject({
      exit: 'unavailable',
      message: expect.stringContaining(`the table assets is locked by the process ${rows[0]?.pid ?? ''}`) as string,
    });
    await holder.query('ROLLBACK');
    await load(nextOf(mode), { mode }, to);
  });
});

describe.skipIf(isMissing)('readers', () => {
  it.each(modes)('wait for nothing while --mode %s loads, and old snapshots keep their rows', async (mode) => {
    await opened('postgres');
    await load(nights[0], { mode: mode === 'scd2' ? 'scd2' : 'replace' });
    const [old, reader] = [await client(), await client()];
    const count = async (from: pg.Client): Promise<number> =>
      Number((await from.query<{ rows: string }>('SELECT count(*) AS rows FROM assets')).rows[0]?.rows);
    await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    expect(await count(old)).toBe(200);
    await reader.query(`SET lock_timeout = '1s'`);
    const state = { isDone: false };
    const loading = load(nextOf(mode), { mode }).finally(() => (state.isDone = true));
    while (!state.isDone) await count(reader);
    await loading;
    expect(await count(old)).toBe(200);
    await old.query('COMMIT');
    expect(await count(old)).toBeGreaterThan(200);
  });

  it('wait less than a second for a new column, which waits for a transaction that has read the table', async () => {
    await opened('postgres');
    await load(nights[0]);
    await query('ALTER TABLE assets DROP COLUMN burnt');
    const [old, reader] = [await client(), await client()];
    await old.query('BEGIN; SELECT count(*) FROM assets');
    await reader.query(`SET lock_timeout = '900ms'`);
    let nowMs = 0;
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
      await reader.query('SELECT count(*) FROM assets');
    };
    const clock = { now: () => nowMs, monotonic: () => nowMs, sleep };
    const reading = reader.query('SELECT pg_sleep(0.1); SELECT count(*) FROM assets');
    const notes: string[] = [];
    const note = (text: string) => notes.push(text);
    await expect(load(nights[1], { clock, note })).rejects.toMatchObject({
      exit: 'unavailable',
      message: expect.stringContaining('the table assets is locked by the process') as string,
    });
    await reading;
    expect(notes).toEqual([]);
    expect(nowMs).toBeGreaterThan(20_000);
    await old.query('COMMIT');
    expect(await load(nights[1])).toContainEqual('the table assets has a new column: burnt boolean');
  });
});

const swallowers = {
  'a trigger': `CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER swallow BEFORE INSERT ON creators FOR EACH ROW EXECUTE FUNCTION swallow()`,
  'a rule': `CREATE RULE swallow AS ON INSERT TO assets DO INSTEAD NOTHING`,
  'row level security': `CREATE ROLE limited LOGIN; GRANT USAGE, CREATE ON SCHEMA public TO limited;
    GRANT SELECT, INSERT, UPDATE, DELETE ON assets, creators, files, _asset_export_loads TO limited;
    ALTER TABLE assets ENABLE ROW LEVEL SECURITY; CREATE POLICY few ON assets USING (burnt)`,
} as const;

describe.skipIf(isMissing)('rows that are swallowed', () => {
  const all = (['replace', 'scd2'] as const).flatMap((mode, at) =>
    (Object.keys(swallowers) as (keyof typeof swallowers)[]).map((what, n) => [mode, what, n % 2 === at] as const),
  );
  // A sample has each of them in one of the modes.
  const cases = all.filter(([, , isSample]) => runsAll || isSample);
  it.each(cases)('in --mode %s by %s: exit 9, and nothing is kept', async (mode, what) => {
    await opened('postgres');
    await query('DROP ROLE IF EXISTS limited');
    await load(nights[0], { mode });
    await query(swallowers[what]);
    const contents = `SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM`;
    const found = (): Promise<string> =>
      query(`${contents} assets t; ${contents} creators t; ${contents} _asset_export_loads t`);
    const before = await found();
    const to = what === 'row level security' ? address.replace('user=tester', 'user=limited') : address;
    await expect(load(diff, { mode }, parseTarget(to, '/'))).rejects.toMatchObject({ exit: 'loadFailed' });
    expect(await found()).toBe(before);
    await query('DROP OWNED BY limited; DROP ROLE limited').catch(() => undefined);
  });

  const swallow = (events: string, table = 'assets'): string => `ALTER TABLE assets ADD COLUMN deleted_at timestamptz;
    COMMENT ON COLUMN assets.deleted_at IS 'When the asset was found to be gone.';
    CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
    CREATE TRIGGER swallow BEFORE ${events} ON ${table} FOR EACH ROW EXECUTE FUNCTION swallow()`;
  const every = 'INSERT OR UPDATE OR DELETE';
  const swallowed = [
    ['replace', 'delete', 'updates', swallow('UPDATE')],
    ['replace', 'delete', 'updates of creators', swallow('UPDATE', 'creators')],
    ['replace', 'delete', 'updates by a rule', 'CREATE RULE swallow AS ON UPDATE TO assets DO INSTEAD NOTHING'],
    ['replace', 'delete', 'all changes', swallow(every)],
    ['replace', 'delete', 'deletes', swallow('DELETE')],
    ['replace', 'keep', 'updates', swallow('UPDATE')],
    ['replace', 'mark', 'updates', swallow('UPDATE')],
    ['scd2', 'delete', 'updates', swallow('UPDATE')],
    ['scd2', 'keep', 'updates', swallow('UPDATE')],
  ] as const;
  it.each(sampled(swallowed, 4))(
    'in --mode %s --deletes %s, %s: exit 9, and nothing is kept',
    async (mode, deletes, _, sql) => {
      await opened('postgres');
      await load(nights[0], { mode: mode === 'scd2' ? 'scd2' : 'replace' });
      await query(sql);
      const contents = `SELECT md5(string_agg(t::text, '' ORDER BY t::text)) FROM assets t`;
      const held = await query(contents);
      await expect(load(nextOf(mode), { mode, deletes })).rejects.toMatchObject({ exit: 'loadFailed' });
      expect(await query(contents)).toBe(held);
    },
  );

  it('cannot be seen by a diff, which names the way out: it heals the table', async () => {
    await opened('postgres');
    await load(nights[0]);
    await query('DELETE FROM assets WHERE id IN (SELECT id FROM assets ORDER BY id LIMIT 9)');
    const refused = await runHere(['load', diff, '--to', address]);
    expect(refused.exit, refused.stderr).toBe(2);
    const [, newer = ''] = /Load (\S+) instead/.exec(refused.stderr) ?? [];
    expect((await runHere(['load', newer, '--to', address])).exit).toBe(0);
    expect(await query('SELECT count(*) FROM assets')).toBe('214\n');
  });
});

describe.skipIf(isMissing)('tables of another shape', () => {
  it('get the columns that they lack, and views and grants stay', async () => {
    await opened('postgres');
    await load(nights[0]);
    await query(`ALTER TABLE assets DROP COLUMN burnt, DROP COLUMN interface, DROP COLUMN supply_print_max_supply;
      CREATE VIEW owners AS SELECT id, ownership_owner FROM assets; GRANT SELECT ON assets TO PUBLIC`);
    const failed = await runHere(['load', nights[1] ?? '', '--to', address, '--new-columns', 'fail']);
    expect(failed.exit, failed.stderr).toBe(9);
    const statements = failed.stderr.split('\n').filter((line) => line.trim().startsWith('ALTER TABLE'));
    expect(statements).toHaveLength(3);
    const notes = await load(nights[1]);
    expect(notes.filter((note) => note.startsWith('the table assets has a new column'))).toHaveLength(3);
    expect(await query('SELECT count(*), count(interface) > 0 FROM assets')).toBe('214|t\n');
    expect(await query('SELECT count(*) FROM owners')).toBe('214\n');
    expect(await query(`SELECT has_table_privilege('public', 'assets', 'SELECT')`).catch(() => 't\n')).toBe('t\n');
    await query(`ALTER TABLE assets DROP COLUMN burnt, DROP COLUMN interface, DROP COLUMN supply_print_max_supply;
      ${statements.join('\n')}`);
    await load(nights[1]);
  });

  it('of another type: exit 9, and the printed ALTER works', async () => {
    await opened('postgres');
    await load(nights[0]);
    await query(`ALTER TABLE assets ALTER COLUMN ownership_owner TYPE varchar(10) USING 'x'`);
    const failed = await runHere(['load', nights[1] ?? '', '--to', address]);
    expect(failed.exit, failed.stderr).toBe(9);
    expect(failed.stderr).toContain('assets.ownership_owner');
    const statements = failed.stderr.split('\n').filter((line) => line.trim().startsWith('ALTER TABLE'));
    expect(statements).toHaveLength(1);
    await query(statements.join('\n'));
    expect((await runHere(['load', nights[1] ?? '', '--to', address])).exit).toBe(0);
  });

  it('that a user made jsonb, wider or with columns of their own stay so', async () => {
    await opened('postgres');
    await load(nights[0]);
    await query(
      `ALTER TABLE assets ALTER COLUMN extra TYPE jsonb USING extra::jsonb, ADD COLUMN note text DEFAULT 'x'`,
    );
    await load(nights[1]);
    expect(await query(`SELECT pg_typeof(extra), count(*) FROM assets WHERE extra IS NOT NULL GROUP BY 1`)).toMatch(
      /^jsonb\|/,
    );
  });
});

describe.skipIf(isMissing)('--indexes', () => {
  it('creates them once, takes values of any length, and says what failed after the rows are kept', async () => {
    await opened('postgres');
    const line = ['load', nights[0] ?? '', '--to', address, '--indexes'];
    for (let time = 0; time < 2; time += 1) {
      const loaded = await runHere(line);
      expect(loaded.exit, loaded.stderr).toBe(0);
    }
    const indexes = `SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%spgist%' ORDER BY 1`;
    expect(await query(indexes)).toBe(
      'assets_collection_spgist\nassets_ownership_owner_spgist\ncreators_address_spgist\n',
    );
    await query(
      `UPDATE creators SET address = (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 500) n) WHERE position = 0`,
    );
    await query(`DROP INDEX creators_address_spgist; DROP ROLE IF EXISTS loader; CREATE ROLE loader LOGIN; GRANT USAGE ON SCHEMA public TO loader;
      GRANT SELECT, INSERT, UPDATE, DELETE ON assets, creators, files, _asset_export_loads TO loader`);
    const to = address.replace('user=tester', 'user=loader');
    const failed = await runHere(['load', nights[1] ?? '', '--to', to, '--indexes']);
    expect(failed.exit, failed.stderr).toBe(9);
    expect(failed.stderr).toMatch(/the rows are loaded, the index \w+ is not/);
    expect(await query('SELECT count(*) FROM assets')).toBe('214\n');
    const statement = failed.stderr.split('\n').find((text) => text.trim().startsWith('CREATE INDEX')) ?? '';
    await query(statement);
  });
});
