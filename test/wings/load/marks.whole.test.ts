import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  assetIds,
  exportNight,
  fewColumns,
  firstNight,
  secondNight,
  thirdNight,
} from '../warehouse/diff/two-nights.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases, inOneEngine, type OpenedDatabase } from './both-databases.ts';

const server = await postgresOfTests('marks of deleted assets are not tested in PostgreSQL');
const opened = emptyDatabases(server);

/** Three nights with the changes of the one before: the second lacks six assets, which the third has again. */
const nights: string[] = [];
let folder: Awaited<ReturnType<typeof keptFolder>>;

beforeAll(async () => {
  folder = await keptFolder();
  const second = assetIds.filter((_, n) => n < 195 || n > 199);
  for (const [index, record] of [firstNight, secondNight, thirdNight].entries()) {
    const base = { base: nights.at(-1) ?? 'none', 'max-age': '0d', 'missing-after': '0d' };
    const flags = { ...base, tables: 'assets,creators,files,changes', format: 'csv,raw', columns: fewColumns };
    const out = join(folder.path, `date=2026-11-2${index}`);
    nights.push(await exportNight({ record, ids: index === 1 ? second : assetIds, flags, out }));
  }
}, 120_000);

afterAll(() => folder.remove());

const night = (index: number): string => nights[index] ?? '';

async function load(database: OpenedDatabase, index: number, how: string, exit = 0) {
  const line = ['load', night(index), '--to', database.address, '--max-deletes', '10%'];
  const older = how.startsWith('scd2') ? [] : ['--allow-older'];
  const loaded = await runHere([...line, ...older, '--mode', ...how.split(' ')]);
  expect(loaded.exit, loaded.stderr).toBe(exit);
  return loaded;
}

const marked = 'SELECT count(*), count(deleted_at) FROM assets';

describe.each(['duckdb', 'postgres'] as const)('marks in %s', (kind) => {
  const inOne = inOneEngine(kind, it.skipIf(kind === 'postgres' && server.isMissing));

  inOne('postgres')('go with the assets that the export does not have, unless --deletes says else', async () => {
    const database = await opened(kind);
    await load(database, 0, 'replace');
    await load(database, 1, 'replace --deletes mark');
    expect(await database.rows(marked)).toEqual(['220|6']);
    await load(database, 0, 'replace');
    expect(await database.rows(marked)).toEqual(['200|0']);
    await load(database, 1, 'replace');
    expect(await database.rows(marked)).toEqual(['214|0']);
  });

  describe.each([
    ['replace --deletes keep', 'duckdb'],
    ['replace --deletes mark', 'postgres'],
    ['scd2 --deletes keep', 'duckdb'],
  ] as const)('and kept assets', (how, engine) => {
    inOne(engine)(`are not counted as deleted: --mode ${how}`, async () => {
      const database = await opened(kind);
      await load(database, 0, how.split(' ')[0] ?? '');
      const { stdout } = await load(database, 1, how);
      expect(stdout).toContain(', 0 deleted)');
      expect(await database.rows(`SELECT deleted FROM _asset_export_loads WHERE "table" = 'assets'`)).toEqual(['0']);
    });
  });

  inOne()('are told from a column of the user of that name', async () => {
    const database = await opened(kind);
    await load(database, 0, 'replace');
    const type = 'timestamp with time zone';
    await database.rows(`ALTER TABLE assets ADD COLUMN deleted_at ${type}`);
    await database.rows(`UPDATE assets SET deleted_at = CAST('2026-01-01' AS ${type})`);
    await load(database, 0, 'replace');
    await load(database, 1, 'replace');
    const held = await database.rows(marked);
    expect(held[0]).toMatch(/^214\|\d\d/);
    await load(database, 1, 'replace');
    expect(await database.rows(marked)).toEqual(held);
    const { stderr: refused } = await load(database, 2, 'replace --deletes mark', 2);
    expect(refused).toContain('the column deleted_at of the table assets is not for marks');
    const comment = /COMMENT ON COLUMN .*;/.exec(refused)?.[0] ?? '';
    await database.rows('UPDATE assets SET deleted_at = NULL');
    await database.rows(comment);
    await load(database, 2, 'replace --deletes mark');
  });
});
