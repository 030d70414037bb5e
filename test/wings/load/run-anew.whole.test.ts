import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetIds, exportNight, firstNight, secondNight, thirdNight } from '../warehouse/diff/two-nights.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { runHere } from '../../support/run-here.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases, type OpenedDatabase } from './both-databases.ts';

const server = await postgresOfTests('nights that were run anew are not loaded into PostgreSQL');
const opened = emptyDatabases(server);

let folder: Awaited<ReturnType<typeof keptFolder>>;
const night = (day: number): string => join(folder.path, `date=2026-11-${day}`);

const exported = async (day: number, record: typeof firstNight): Promise<void> => {
  const base = day === 20 ? 'none' : night(day - 1);
  const flags = { base, 'max-age': '0d', 'missing-after': '0d', tables: 'assets,creators,files,changes' };
  await exportNight({ record, ids: assetIds, flags, out: night(day) });
};

beforeAll(async () => {
  folder = await keptFolder();
});

afterAll(() => folder.remove());

const load = (database: OpenedDatabase, ...words: string[]) =>
  runHere(['load', ...words, '--to', database.address, '--max-deletes', '10%']);

describe.each(['duckdb', 'postgres'] as const)('in %s', (kind) => {
  const test = it.skipIf(kind === 'postgres' && server.isMissing);

  test('a night that was run anew after it was merged: replace works, then merges go on', async () => {
    for (const day of [20, 21, 22]) await rm(night(day), { recursive: true, force: true });
    await exported(20, firstNight);
    await exported(21, secondNight);
    const database = await opened(kind);
    for (const day of [20, 21]) expect((await load(database, night(day), '--mode', 'merge')).exit).toBe(0);
    await rm(night(21), { recursive: true });
    await exported(21, thirdNight);
    await exported(22, secondNight);

    for (const day of [21, 22]) {
      const refused = await load(database, night(day), '--mode', 'merge');
      expect(refused.exit, refused.stderr).toBe(2);
      expect(refused.stderr).toContain('date=2026-11-21 was run anew after it was loaded. Load ');
      expect(refused.stderr).not.toContain('diff');
      const [, newer = '', mode = ''] = /Load (\S+) with --mode (\w+)/.exec(refused.stderr) ?? [];
      expect([newer, mode]).toEqual([night(day).replaceAll("'", ''), 'replace']);
    }
    const replaced = await load(database, night(21), '--mode', 'replace');
    expect(replaced.exit, replaced.stderr).toBe(0);
    const merged = await load(database, night(22), '--mode', 'merge');
    expect(merged.exit, merged.stderr).toBe(0);
  });

  test('versions of it are to be restored, or loaded elsewhere', async () => {
    const database = await opened(kind);
    expect((await load(database, night(21), '--mode', 'scd2')).exit).toBe(0);
    for (const day of [21, 22]) await rm(night(day), { recursive: true });
    await exported(21, secondNight);
    await exported(22, thirdNight);
    const refused = await load(database, night(22), '--mode', 'scd2');
    expect(refused.exit, refused.stderr).toBe(2);
    expect(refused.stderr).toMatch(
      /date=2026-11-21 was run anew after it was loaded. Restore the one with the seal \w{12}, or load into other tables/,
    );
  });
});
