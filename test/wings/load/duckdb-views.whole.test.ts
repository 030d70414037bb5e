import { expect, it } from 'vitest';
import { loadExport } from '../../../src/wings/load/load-export.ts';
import { sampled } from '../../model/support/sample.ts';
import { emptyDatabases } from './both-databases.ts';
import { localExports, request } from './local-exports.ts';

const { shared } = await localExports();
const emptyDatabase = emptyDatabases({ query: async () => '', address: '' });

const cases = [
  ['replace', undefined, 'CREATE VIEW nft_metadata AS SELECT 7 AS mine'],
  ['replace', undefined, 'CREATE TABLE nft_metadata AS SELECT 7 AS mine'],
  ['replace', undefined, 'CREATE VIEW NFT_Metadata AS SELECT 7 AS mine'],
  ['replace', 'raw', 'CREATE VIEW raw.nft_metadata AS SELECT 7 AS mine'],
] as const;

it.each(sampled(cases, 2))(
  'a view or table nft_metadata of the user stays. Mode: %s, schema: %s, %s',
  async (mode, schema, made) => {
    const { target, rows } = await emptyDatabase('duckdb');
    const asked = { ...request(await shared(20), 'duckdb', mode), schema };
    await loadExport(asked, target);
    await rows(made);
    await expect(loadExport({ ...asked, views: true }, target)).rejects.toMatchObject({
      exit: 'loadFailed',
      message: 'nft_metadata is a table or view of your own, with the columns mine',
      todo: expect.stringContaining('without --views, or with another --prefix') as string,
    });
    expect(await rows(`SELECT mine FROM ${schema ?? 'main'}.nft_metadata`)).toEqual(['7']);
    await loadExport({ ...asked, views: true, prefix: 'p_' }, target);
    await loadExport({ ...asked, views: true, prefix: 'p_' }, target);
    expect(await rows(`SELECT count(*) FROM ${schema ?? 'main'}.p_nft_metadata`)).toEqual(['20']);
  },
);
