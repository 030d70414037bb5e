import { describe, expect, it } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';
import { localExports, request } from './local-exports.ts';

const server = await postgresOfTests('schemas of a search path are not tested in PostgreSQL');
const { query, isMissing, address } = server;
const { exported } = await localExports();
const opened = emptyDatabases(server);

describe.skipIf(isMissing)('tables that are not in the first schema of the search path', () => {
  const load = async (folder: string, options: string, more: Partial<LoadRequest> = {}): Promise<void> => {
    await loadExport({ ...request(folder, 'postgres'), ...more }, parseTarget(`${address}${options}`, '/'));
  };
  const staging = '&options=-c%20search_path%3Dstaging,public';

  it('get the columns that they lack, and their view and indexes beside them', async () => {
    await opened('postgres');
    await query('DROP SCHEMA IF EXISTS staging CASCADE; CREATE SCHEMA staging');
    const out = await exported(20);
    await load(out, '');
    await query('ALTER TABLE assets DROP COLUMN content_metadata_name');
    await load(out, staging, { views: true, indexes: true });
    expect(
      await query(`SELECT count(content_metadata_name) > 0 FROM assets; SELECT count(*) FROM nft_metadata;
      SELECT count(*) FROM pg_class WHERE relnamespace = 'staging'::regnamespace`),
    ).toBe('t\n20\n0\n');
  });

  it('are loaded by one load at a time', async () => {
    await opened('postgres');
    await query('DROP SCHEMA IF EXISTS staging CASCADE; CREATE SCHEMA staging');
    const out = await exported(20);
    await load(out, '');
    const loads = ['', staging, '', staging].map((options) => load(out, options));
    await Promise.all(loads);
    expect(await query(`SELECT count(*) FROM assets`)).toBe('20\n');
  });
});
