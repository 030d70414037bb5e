import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { diffExports } from '../../../src/wings/warehouse/diff/diff-exports.ts';
import { exportNight, fewColumns, firstNight, type NightRecord } from '../warehouse/diff/two-nights.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';

const server = await postgresOfTests('columns with types of the user are not tested in PostgreSQL');
const { query, isMissing } = server;
const opened = emptyDatabases(server);

let folder: Awaited<ReturnType<typeof keptFolder>>;
let night = '';

beforeAll(async () => {
  folder = await keptFolder();
  night = await exportNight({
    record: firstNight,
    flags: { format: 'csv', columns: fewColumns },
    out: join(folder.path, 'night'),
  });
});

afterAll(() => folder.remove());

async function load(out: string, more: Partial<LoadRequest> = {}): Promise<void> {
  const { target } = await database;
  await loadExport({ files: localDisk, folder: out, kind: 'postgres', mode: 'replace', ...more }, target);
}

let database: ReturnType<typeof opened>;

const ci = `CREATE COLLATION ci (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`;

describe.skipIf(isMissing)('a column of which unlike values are equal', () => {
  it.each([
    ['citext', 'CREATE EXTENSION IF NOT EXISTS citext', 'citext', 'upper(content_metadata_name::text)'],
    ['a collation that is not deterministic', ci, 'text COLLATE ci', 'upper(content_metadata_name::text)'],
  ])('is healed by replace: %s', async (_, before, type, changed) => {
    database = opened('postgres');
    await database;
    await load(night);
    const names = `SELECT md5(string_agg(content_metadata_name::text, '' ORDER BY id)) FROM assets`;
    const wanted = await query(names);
    await query(`${before}; ALTER TABLE assets ALTER content_metadata_name TYPE ${type};
      UPDATE assets SET content_metadata_name = ${changed}`);
    expect(await query(names)).not.toBe(wanted);
    await load(night);
    expect(await query(names)).toBe(wanted);
  });
});

describe.skipIf(isMissing)('changes', () => {
  const nights: string[] = [];
  let diff = '';

  beforeAll(async () => {
    for (const [n, name] of ['Tom', 'x\0y'].entries()) {
      const record: NightRecord = (asset, at) => {
        const read = firstNight(asset, at);
        return read === undefined || at % 9 !== 0 ? read : { ...read, interface: 'Custom', odd: name };
      };
      const flags = { format: 'parquet', columns: fewColumns, 'exported-at': true };
      nights.push(await exportNight({ record, flags, out: join(folder.path, `date=2026-11-2${n}`) }));
    }
    diff = join(folder.path, 'changes');
    const [from = '', to = ''] = nights;
    await diffExports({ files: localDisk, from, to, out: diff, memoryBytes: 300e6, ignored: [], version: '0' });
  }, 60_000);

  it.each(['replace', 'scd2'] as const)(
    'fill columns of other types, and jsonb without NUL: --mode %s',
    async (mode) => {
      database = opened('postgres');
      await database;
      await load(nights[0] ?? '', { mode });
      await query(`DO $$ BEGIN EXECUTE (SELECT 'CREATE TYPE kind AS ENUM (' || string_agg(DISTINCT quote_literal(interface), ',') || ')' FROM assets); END $$;
      ALTER TABLE assets ALTER interface TYPE kind USING interface::kind, ALTER extra TYPE jsonb USING extra::text::jsonb`);
      await expect(load(diff, { mode })).rejects.toMatchObject({
        message: expect.stringMatching(/^assets\.extra of \w+ has a NUL character \(\d+ rows\): --nul/) as string,
      });
      await load(diff, { mode, nul: 'replace' });
      const found = await query(
        `SELECT count(*) > 5, min(interface::text) FROM assets WHERE extra->>'odd' = E'x\ufffdy'`,
      );
      expect(found).toBe('t|Custom\n');
    },
  );

  it.each(['replace', 'scd2'] as const)(
    'bring the times of UTC to a column without time zone: --mode %s',
    async (mode) => {
      database = opened('postgres');
      const { target } = await database;
      await load(nights[0] ?? '', { mode });
      await query(`ALTER TABLE assets ALTER exported_at TYPE timestamp USING exported_at AT TIME ZONE 'UTC'`);
      const there = parseTarget(`${target.address}&options=-c%20TimeZone%3DAsia/Tokyo`, '/');
      const request = { files: localDisk, folder: diff, kind: 'postgres', mode, nul: 'remove' } as const;
      await loadExport(request, there);
      expect(await query(`SELECT max(exported_at) - min(exported_at) < '1 hour' FROM assets`)).toBe('t\n');
    },
  );
});
