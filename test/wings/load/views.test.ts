import { describe, expect, it } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases } from './both-databases.ts';
import { localExports, request } from './local-exports.ts';

const { isMissing, psql, address } = await postgresOfTests('views in PostgreSQL are not tested', 'psql');
const { exported } = await localExports();
const emptyDatabase = emptyDatabases({ psql, address });

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
});
