import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { diskFileStore } from '../../../src/places/files/file-store.ts';
import { exportNight, firstNight } from '../warehouse/diff/two-nights.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';

const server = await postgresOfTests('columns with types of the user are not tested in PostgreSQL');
const { psql, isMissing } = server;
const opened = emptyDatabases(server);

let folder: Awaited<ReturnType<typeof keptFolder>>;
let night = '';

beforeAll(async () => {
  folder = await keptFolder();
  night = await exportNight({ record: firstNight, flags: { format: 'csv' }, out: join(folder.path, 'night') });
});

afterAll(() => folder.remove());

async function load(out: string, more: Partial<LoadRequest> = {}): Promise<void> {
  const { target } = await database;
  await loadExport({ files: diskFileStore, folder: out, kind: 'postgres', mode: 'replace', ...more }, target);
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
    const wanted = await psql(names);
    await psql(`${before}; ALTER TABLE assets ALTER content_metadata_name TYPE ${type};
      UPDATE assets SET content_metadata_name = ${changed}`);
    expect(await psql(names)).not.toBe(wanted);
    await load(night);
    expect(await psql(names)).toBe(wanted);
  });
});
