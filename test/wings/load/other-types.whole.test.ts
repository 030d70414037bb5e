import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/lib/json/json.ts';
import { assetIds, exportNight, fewColumns, firstNight, type NightRecord } from '../warehouse/diff/two-nights.ts';
import { generatedId } from '../../../packages/practice-service/src/generated/generated-assets.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';

const server = await postgresOfTests('columns of other types are not tested in PostgreSQL');
const { query, address, isMissing } = server;
const opened = emptyDatabases(server);

let folder: Awaited<ReturnType<typeof keptFolder>>;
let out = '';

beforeAll(async () => {
  folder = await keptFolder();
  out = await exportNight({
    record: firstNight,
    flags: { format: 'csv', columns: fewColumns },
    out: `${folder.path}/night`,
  });
});

afterAll(() => folder.remove());

const load = (...words: string[]) => runHere(['load', out, '--to', address, ...words]);

/** The statements of a message, which are lines of their own. */
function statementsIn(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => /^(ALTER|DROP) /.test(line)).join('\n');
}

describe.skipIf(isMissing)('the printed change of a type works when it is typed', () => {
  it.each([[[]], [['--prefix', 'nft_']], [['--schema', 'Raw']]])('below our own view %j', async (where) => {
    await opened('postgres');
    await query('DROP SCHEMA IF EXISTS "Raw" CASCADE');
    expect((await load('--views', ...where)).exit).toBe(0);
    const within = where.includes('--schema') ? 'SET search_path TO "Raw";' : '';
    const [assets, view] = ['assets', 'nft_metadata'].map((name) => (where.includes('nft_') ? `nft_${name}` : name));
    await query(`${within} DROP VIEW ${view}; ALTER TABLE ${assets} ALTER COLUMN ownership_owner TYPE varchar(10) USING 'x';
      CREATE VIEW ${view} AS SELECT ownership_owner FROM ${assets}`);
    const refused = await load(...where);
    expect(refused.exit, refused.stderr).toBe(9);
    expect(refused.stderr).toContain(`Load with --views, which creates the view ${view} again`);
    await query(statementsIn(refused.stderr));
    const loaded = await load('--views', ...where);
    expect(loaded.exit, loaded.stderr).toBe(0);
    expect(await query(`${within} SELECT count(owner) > 0 FROM ${view}`)).toBe('t\n');
  });

  it('below views of the user, which are named', async () => {
    await opened('postgres');
    expect((await load()).exit).toBe(0);
    await query(`ALTER TABLE assets ALTER COLUMN ownership_owner TYPE varchar(10) USING 'x';
      CREATE VIEW owners AS SELECT ownership_owner FROM assets; CREATE VIEW few AS SELECT * FROM owners LIMIT 1;
      CREATE VIEW ids AS SELECT id FROM assets; CREATE MATERIALIZED VIEW kept AS SELECT ownership_owner FROM assets`);
    const refused = await load();
    expect(refused.exit, refused.stderr).toBe(9);
    expect(refused.stderr).toContain('first drop public.few, public.kept, public.owners, and create');
    await query(`DROP VIEW few; DROP MATERIALIZED VIEW kept; DROP VIEW owners; ${statementsIn(refused.stderr)}`);
    expect((await load()).exit).toBe(0);
  });

  it('of a column with a default', async () => {
    await opened('postgres');
    expect((await load()).exit).toBe(0);
    await query(`ALTER TABLE assets ALTER COLUMN burnt TYPE integer USING 1, ALTER COLUMN ownership_owner TYPE varchar(3) USING 'x';
      ALTER TABLE assets ALTER COLUMN burnt SET DEFAULT 0, ALTER COLUMN ownership_owner SET DEFAULT 'me'`);
    const told: string[] = [];
    // PostgreSQL reports a column at a time.
    for (let time = 0; time < 2; time += 1) {
      const refused = await load();
      expect(refused.exit, refused.stderr).toBe(9);
      told.push(statementsIn(refused.stderr));
      await query(told.at(-1) ?? '');
    }
    expect(told.join('\n').match(/.*DROP DEFAULT;/g)).toEqual([
      'ALTER TABLE "assets" ALTER COLUMN "burnt" DROP DEFAULT;',
    ]);
    const loaded = await load();
    expect(loaded.exit, loaded.stderr).toBe(0);
    expect(
      await query(
        `SELECT column_default LIKE '%me%' FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'ownership_owner'`,
      ),
    ).toBe('t\n');
  });

  it('below a generated column, a policy and a trigger, which are named, and of a domain', async () => {
    await opened('postgres');
    expect((await load()).exit).toBe(0);
    await query(`ALTER TABLE assets ALTER COLUMN ownership_owner TYPE varchar(10) USING 'x';
      ALTER TABLE assets ADD loud text GENERATED ALWAYS AS (upper(ownership_owner)) STORED;
      CREATE POLICY mine ON assets USING (ownership_owner <> 'y');
      CREATE FUNCTION pass() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
      CREATE TRIGGER kept BEFORE UPDATE OF ownership_owner ON assets FOR EACH ROW EXECUTE FUNCTION pass()`);
    const refused = await load();
    expect(refused.exit, refused.stderr).toBe(9);
    expect(refused.stderr).toContain(
      'first drop column loud of table assets, policy mine on table assets, trigger kept on table assets, and create',
    );
    await query(`ALTER TABLE assets DROP COLUMN loud; DROP POLICY mine ON assets; DROP TRIGGER kept ON assets;
      ${statementsIn(refused.stderr)}
      CREATE DOMAIN short AS text CHECK (length(VALUE) < 4); ALTER TABLE assets ALTER COLUMN ownership_owner TYPE short USING 'x'`);
    const ofDomain = await load();
    expect(ofDomain.exit, ofDomain.stderr).toBe(9);
    await query(statementsIn(ofDomain.stderr));
    expect((await load()).exit).toBe(0);
  });
});

/** Links so deep that a server with a small stack refuses them. */
const deepNight: NightRecord = (record, n) => {
  const found = firstNight(record, n);
  if (n !== 70 || found === undefined) return found;
  let links: JsonObject = {};
  for (let depth = 0; depth < 900; depth += 1) links = { links };
  const description = Array.from({ length: 500 }, (_, at) => generatedId(at, 0)).join('');
  return { ...found, content: { metadata: { name: 'deep', symbol: '', description }, links } };
};

it.each([
  ['stack depth limit exceeded', 'postgres', 'content_links', '', '&options=-c%20max_stack_depth%3D100'],
  [
    'violates check constraint',
    'postgres',
    'content_metadata_name',
    `ALTER TABLE assets ADD CHECK (content_metadata_name <> 'deep')`,
    '',
  ],
  [
    'index row requires',
    'postgres',
    'content_metadata_description',
    'CREATE INDEX ON assets (content_metadata_description)',
    '',
  ],
  [
    'Conversion Error',
    'duckdb',
    'content_metadata_name',
    'ALTER TABLE assets ALTER content_metadata_name TYPE integer USING NULL',
    '',
  ],
] as const)(
  // Promise, Nothing misread: A value that a database refuses is named by column and id
  '%s: the value is named by column and id',
  async (...[reason, kind, column, alter, more]) => {
    if (kind === 'postgres' && isMissing) return;
    const place = await opened(kind);
    const deep = await deepOnce();
    const to = ['--to', `${place.address}${more}`, '--max-deletes', '100%'];
    expect((await runHere(['load', deep, '--to', place.address])).exit).toBe(0);
    // In one transaction an index would still take what is deleted there.
    await place.rows('DELETE FROM assets; SELECT 1');
    await place.rows(`${alter}; SELECT 1`);
    const refused = await runHere(['load', deep, ...to]);
    expect(refused.exit, refused.stderr).toBe(9);
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(reason);
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(
      `assets.${column} of ${kind === 'duckdb' ? '' : assetIds[70]}`,
    );
  },
  60_000,
);

let made: Promise<string> | undefined;
const deepOnce = (): Promise<string> =>
  (made ??= exportNight({
    record: deepNight,
    flags: { format: 'csv', columns: fewColumns },
    out: `${folder.path}/deep`,
  }));
