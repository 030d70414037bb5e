import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { parseTarget } from '../../../src/wings/load/load-target.ts';
import { contentSeal, type Manifest } from '../../../src/places/export/manifest.ts';
import { queryDuckdb, sqlText } from '../../support/query-duckdb.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { localExports, request } from './local-exports.ts';

const { isMissing, query, address } = await postgresOfTests('the record of loads into PostgreSQL is not tested');
const { exported } = await localExports();

const records = `SELECT "table" || ' ' || mode || ' ' || coalesce(seal, 'none') || ' ' || coalesce(base_seal, 'none') FROM _asset_export_loads ORDER BY 1`;

async function sealOf(folder: string): Promise<string> {
  return contentSeal(JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest);
}

const cases = [
  {
    kind: 'duckdb' as const,
    open: async () => {
      const file = join(await tempFolder(), 'a.duckdb');
      const read = async () =>
        (await queryDuckdb(`ATTACH ${sqlText(file)} AS loaded; USE loaded; ${records}`)).map((row) => String(row[0]));
      return { target: parseTarget(`duckdb:${file}`, '/'), read };
    },
  },
  {
    kind: 'postgres' as const,
    open: async () => {
      await query('DROP TABLE IF EXISTS nft_assets, nft_creators, nft_files, _asset_export_loads');
      const read = async () => (await query(records)).trimEnd().split('\n');
      return { target: parseTarget(address, '/'), read };
    },
  },
];

describe.each(cases)('each load into $kind', ({ kind, open }) => {
  it.skipIf(kind === 'postgres' && isMissing)(
    // Promise, Nothing misread: Each load records what the tables hold, in its transaction
    'records the seal that each table stands at, in its transaction',
    async () => {
      const { target, read } = await open();
      const folder = await exported(40);
      const seal = await sealOf(folder);
      const wanted = ['nft_assets', 'nft_creators', 'nft_files'].map((table) => `${table} replace ${seal} none`);
      await loadExport({ ...request(folder, kind), prefix: 'nft_' }, target);
      expect(await read()).toEqual(wanted);
      const none = await exported(0, { tables: 'assets' });
      await expect(loadExport({ ...request(none, kind), prefix: 'nft_' }, target)).rejects.toThrow('refusing to empty');
      expect(await read()).toEqual(wanted);
    },
  );
});
