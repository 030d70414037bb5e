import { mkdir, rm } from 'node:fs/promises';
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

const server = await postgresOfTests('folders of nights are not loaded into PostgreSQL');
const opened = emptyDatabases(server);

let folder: Awaited<ReturnType<typeof keptFolder>>;
const night = (day: number): string => join(folder.path, `date=2026-11-${day}`);

beforeAll(async () => {
  folder = await keptFolder();
  const few = { format: 'csv,raw', columns: fewColumns };
  for (const [index, record] of [firstNight, secondNight, thirdNight, firstNight].entries()) {
    const base = index === 0 ? 'none' : night(19 + index);
    const flags = { base, 'max-age': '0d', 'missing-after': '0d', tables: 'assets,creators,changes' };
    await exportNight({ record, ids: assetIds, flags: { ...flags, ...few }, out: night(20 + index) });
  }
  // An unfinished night, and another export, which the pattern does not name.
  await exportNight({ record: firstNight, ids: assetIds.slice(0, 20), flags: few, out: join(folder.path, 'other') });
  await exportNight({ record: firstNight, ids: assetIds.slice(0, 40), flags: few, out: night(24) });
  await rm(join(night(24), 'manifest.json'));
  await mkdir(join(night(24), '.run'), { recursive: true });
}, 120_000);

afterAll(() => folder.remove());

describe.each(['duckdb', 'postgres'] as const)('a folder of nights into %s', (kind) => {
  const inOne = inOneEngine(kind, it.skipIf(kind === 'postgres' && server.isMissing));
  const load = async (database: OpenedDatabase, word: string, ...more: string[]) =>
    runHere(['load', word, '--to', database.address, '--max-deletes', '10%', ...more]);
  const pattern = (): string => join(folder.path, 'date=*');

  inOne()('gives replace the newest complete night, once', async () => {
    const database = await opened(kind);
    expect((await load(database, night(20))).exit).toBe(0);
    const caught = await load(database, pattern());
    expect(caught.exit, caught.stderr).toBe(0);
    expect(caught.stderr).toContain('date=2026-11-24 is not complete: it is skipped');
    expect(await database.rows('SELECT DISTINCT export FROM _asset_export_loads')).toEqual(['date=2026-11-23']);
    const again = await load(database, pattern());
    expect([again.exit, again.stdout]).toEqual([0, expect.stringContaining('nothing was changed')]);
  });

  inOne('postgres')('gives scd2 each night that it lacks, a transaction each', async () => {
    const database = await opened(kind);
    const versions = (): Promise<string[]> =>
      database.rows('SELECT count(DISTINCT valid_from), count(*) FILTER (WHERE valid_to IS NULL) > 150 FROM assets');
    const first = await load(database, night(20), '--mode', 'scd2');
    expect(first.exit, first.stderr).toBe(0);
    // A night that would delete too much ends it; those before stay.
    const stopped = await load(database, pattern(), '--mode', 'scd2', '--max-deletes', '0', '--json');
    expect(stopped.exit, stopped.stderr).toBe(3);
    const caught = await load(database, pattern(), '--mode', 'scd2', '--json');
    expect(caught.exit, caught.stderr).toBe(0);
    const lines = caught.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { folder: string; way: string });
    expect(lines.map((each) => [each.folder, each.way])).toEqual([21, 22, 23].map((day) => [night(day), 'by changes']));
    expect(await versions()).toEqual([expect.stringMatching(/^4\|t(rue)?$/)]);
    expect((await load(database, pattern(), '--mode', 'scd2')).stdout).toContain('nothing was changed');
    expect(await versions()).toEqual([expect.stringMatching(/^4\|t(rue)?$/)]);
  });

  inOne()('without a complete one: exit 4', async () => {
    const none = await load(await opened(kind), join(folder.path, 'day=*'));
    expect(none.exit, none.stderr).toBe(4);
    // A folder gives the newest of all its exports.
    const database = await opened(kind);
    expect((await load(database, folder.path)).exit).toBe(0);
    expect(await database.rows('SELECT DISTINCT export FROM _asset_export_loads')).toEqual(['other']);
  });
});
