import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { runsAll } from '../../support/lane.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';
import { localExports, request } from './local-exports.ts';

const server = await postgresOfTests('what follows COMMIT is not tested in PostgreSQL');
const { query, isMissing, address } = server;
const { exported } = await localExports();
const opened = emptyDatabases(server);

const load = async (folder: string, more: Partial<LoadRequest> = {}, to = address): Promise<void> => {
  await loadExport({ ...request(folder, 'postgres'), ...more }, parseTarget(to, '/'));
};

describe.skipIf(isMissing)('after COMMIT', () => {
  it('a role that owns no table needs no right for indexes and a view that are there', async () => {
    await opened('postgres');
    const out = await exported(20);
    await load(out, { indexes: true, views: true });
    await query(`DROP ROLE IF EXISTS loader; CREATE ROLE loader LOGIN; GRANT USAGE ON SCHEMA public TO loader;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO loader`);
    await load(out, { indexes: true, views: true }, address.replace('user=tester', 'user=loader'));
  });

  it.runIf(runsAll)('ANALYZE waits for a lock as long as the load does, and is no error', async () => {
    await opened('postgres');
    const out = await exported(20);
    await load(out, { mode: 'scd2' });
    const holder = new pg.Client({ connectionString: address });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query('BEGIN; LOCK TABLE assets IN SHARE UPDATE EXCLUSIVE MODE');
    const notes: string[] = [];
    await load(out, { mode: 'scd2', note: (text) => notes.push(text) });
    expect(notes).toEqual([expect.stringMatching(/^the tables were loaded, but ANALYZE failed: .*lock timeout/)]);
  });
});
