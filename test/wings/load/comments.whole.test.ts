import { describe, expect, it } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';
import { localExports, request } from './local-exports.ts';

const { isMissing, query, address } = await postgresOfTests('comments in PostgreSQL are not tested');
const { shared } = await localExports();
const emptyDatabase = emptyDatabases({ query, address });

const columns = {
  duckdb: `SELECT count(*), count("comment") FROM duckdb_columns() WHERE table_name IN ('assets', 'creators', '_asset_export_loads')`,
  postgres: `SELECT count(*), count(col_description(attrelid, attnum)) FROM pg_attribute
    WHERE attrelid IN ('assets'::regclass, 'creators'::regclass, '_asset_export_loads'::regclass) AND attnum > 0`,
};
const ofTable = {
  duckdb: `SELECT "comment" FROM duckdb_tables() WHERE table_name = 'assets'`,
  postgres: `SELECT obj_description('assets'::regclass)`,
};

describe.each(['duckdb', 'postgres'] as const)('a load into %s', (kind) => {
  it.skipIf(kind === 'postgres' && isMissing)(
    'comments on what it creates, and leaves comments of others',
    async () => {
      const folder = await shared(20);
      const { target, rows } = await emptyDatabase(kind);
      await loadExport(request(folder, kind), target);
      const [all = '', described] = (await rows(columns[kind]))[0]?.split('|') ?? [];
      expect(Number(all)).toBeGreaterThan(25);
      expect(described).toBe(all);
      expect((await rows(ofTable[kind]))[0]).toMatch(/asset/i);
      await rows(`COMMENT ON TABLE assets IS 'ours'`);
      await loadExport(request(folder, kind), target);
      expect(await rows(ofTable[kind])).toEqual(['ours']);
    },
  );

  it.skipIf(kind === 'postgres' && isMissing)('adds columns to a table without comments', async () => {
    const folder = await shared(20);
    const { target, rows } = await emptyDatabase(kind);
    await loadExport(request(folder, kind), target);
    await rows('COMMENT ON TABLE assets IS NULL; ALTER TABLE assets DROP COLUMN burnt');
    await loadExport(request(folder, kind), target);
    expect(await rows('SELECT count(burnt) > 0 FROM assets')).toEqual([kind === 'duckdb' ? 'true' : 't']);
  });

  it.skipIf(kind === 'postgres' && isMissing)('comments on the columns that it adds', async () => {
    const folder = await shared(20);
    const { target, rows } = await emptyDatabase(kind);
    await loadExport(request(folder, kind), target);
    for (const column of ['burnt', 'royalty_percent']) await rows(`ALTER TABLE assets DROP COLUMN ${column}`);
    await loadExport(request(folder, kind), target);
    const [all, described] =
      (await rows(`${columns[kind]}${kind === 'postgres' ? ' AND NOT attisdropped' : ''}`))[0]?.split('|') ?? [];
    expect(described).toBe(all);
  });
});
