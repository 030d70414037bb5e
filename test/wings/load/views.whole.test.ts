import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { diffExports } from '../../../src/wings/warehouse/diff/diff-exports.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';
import { localExports, request } from './local-exports.ts';

const { isMissing, query, address } = await postgresOfTests('views in PostgreSQL are not tested');
const { exported } = await localExports();
const emptyDatabase = emptyDatabases({ query, address });

describe.each(['duckdb', 'postgres'] as const)('a load into %s', (kind) => {
  it.skipIf(kind === 'postgres' && isMissing)(
    'makes the view of all assets on request, and makes it anew',
    async () => {
      const { target, rows } = await emptyDatabase(kind);
      const load = async (assets: number, views: boolean) =>
        loadExport(
          { ...request(await exported(assets), kind), prefix: 'p_', views, maxDeletes: '100%', allowOlder: true },
          target,
        );
      await load(20, false);
      await expect(rows('SELECT count(*) FROM p_nft_metadata')).rejects.toThrow();
      for (const assets of [20, 30]) {
        await load(assets, true);
        expect(await rows('SELECT count(*), count(DISTINCT mint) FROM p_nft_metadata')).toEqual([
          `${assets}|${assets}`,
        ]);
      }
      // A view of the tables, too, once it is there.
      await load(25, false);
      expect(await rows('SELECT count(*) FROM p_nft_metadata')).toEqual(['25']);
    },
  );

  it.skipIf(kind === 'postgres' && isMissing)('keeps the columns of the view when a diff is merged', async () => {
    const { target, rows } = await emptyDatabase(kind);
    const [from, to, out] = [await exported(20), await exported(21), join(await tempFolder(), 'changes')];
    await diffExports({ files: localDisk, from, to, out, memoryBytes: 300e6, ignored: [], version: '0' });
    for (const night of [from, out]) await loadExport({ ...request(night, kind), views: true }, target);
    expect(await rows('SELECT count(*), count(mint), count(owner) > 0 FROM nft_metadata')).toEqual([
      expect.stringMatching(/^21\|21\|t(rue)?$/),
    ]);
  });
});

describe.skipIf(isMissing)('a view of PostgreSQL that is there', () => {
  const count = 'SELECT count(*) FROM nft_metadata';
  const load = async (assets: number, more: Partial<LoadRequest> = {}, to = address): Promise<void> => {
    const asked = { ...request(await exported(assets), 'postgres'), views: true, maxDeletes: '100%', allowOlder: true };
    await loadExport({ ...asked, ...more }, parseTarget(to, '/'));
  };
  const client = async (): Promise<pg.Client> => {
    const made = new pg.Client({ connectionString: address });
    await made.connect();
    onTestFinished(() => made.end());
    return made;
  };

  it('is not touched if it is equal: a transaction that has read it is not waited for', async () => {
    await emptyDatabase('postgres');
    await load(20);
    await query('ALTER VIEW nft_metadata SET (security_barrier = true)');
    const old = await client();
    await old.query(`BEGIN; ${count}`);
    await load(25, {}, `${address}&lock_timeout=200`);
    expect(await query(`${count}; SELECT reloptions FROM pg_class WHERE relname = 'nft_metadata'`)).toBe(
      '25\n{security_barrier=true}\n',
    );
  });

  it('is made anew if it differs, and no reader waits for a second', async () => {
    await emptyDatabase('postgres');
    await load(20);
    await query(`CREATE OR REPLACE VIEW nft_metadata AS SELECT ${await columns()} FROM assets WHERE false`);
    const [old, reader] = [await client(), await client()];
    await old.query(`BEGIN; ${count}`);
    await reader.query(`SET lock_timeout = '900ms'`);
    let nowMs = 0;
    const sleep = async (ms: number): Promise<void> => {
      nowMs += ms;
      await reader.query(count);
    };
    await expect(load(25, { clock: { now: () => nowMs, monotonic: () => nowMs, sleep } })).rejects.toMatchObject({
      exit: 'unavailable',
      message: expect.stringContaining('the rows are loaded, the view nft_metadata is not') as string,
    });
    expect(nowMs).toBeGreaterThan(20_000);
    expect(await query(`SELECT count(*) FROM assets; ${count}`)).toBe('25\n0\n');
    await old.query('COMMIT');
    await load(25);
    expect(await query(count)).toBe('25\n');
  });

  it('of the user, with other columns, stays, and the rows are loaded', async () => {
    await emptyDatabase('postgres');
    await query(`CREATE VIEW nft_metadata AS SELECT 1 AS mine`);
    await expect(load(20)).rejects.toMatchObject({
      exit: 'loadFailed',
      message: expect.stringContaining('the rows are loaded, the view nft_metadata is not') as string,
    });
    expect(await query('SELECT mine FROM nft_metadata; SELECT count(*) FROM assets')).toBe('1\n20\n');
  });

  /** The columns of the view, all empty. */
  const columns = (): Promise<string> =>
    query(`SELECT string_agg(format('NULL::%s AS %I', format_type(atttypid, atttypmod), attname), ', ' ORDER BY attnum)
      FROM pg_attribute WHERE attrelid = 'nft_metadata'::regclass`);
});
