import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFailed } from 'vitest';
import { writeIdFile } from '../support/id-file.ts';
import { runsAll } from '../support/lane.ts';
import { runProgram } from '../support/run-program.ts';
import { type SpawnedService, spawnGeneratedService } from '../support/service/spawned-service.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { postgresOfTests } from '../wings/warehouse/postgres-of-tests.ts';

/** `test/wings/load/postgres-guards.whole.test.ts` has the same with few rows. */
const assets = 1_000_000;
/** How often the reader asks, and how long none of its queries may wait. */
const [everyMs, mostWaitMs] = [250, 1000] as const;

const absent = { isMissing: true, address: '', query: async () => '' };
const { isMissing, address, query } = runsAll ? await postgresOfTests('no reader watches a load') : absent;

const modes = [
  { what: 'replace', mode: 'replace' },
  { what: 'scd2', mode: 'scd2' },
  {
    what: 'new columns and indexes',
    mode: 'replace',
    lacks: 'royalty_percent, compression_tree, content_json_uri',
    more: ['--indexes'],
  },
] as const;

describe.skipIf(isMissing)('a reader of the tables of a load', () => {
  let folder: Awaited<ReturnType<typeof keptFolder>>;
  const place = (name: string): string => join(folder.path, name);

  /** Two nights: the second has 1 % more assets. */
  beforeAll(async () => {
    folder = await keptFolder();
    await writeIdFile(place('ids.txt'), { entries: assets });
    for (const [night, missing] of [
      ['date=2026-11-20', '1'],
      ['date=2026-11-21', '0'],
    ] as const) {
      const service: SpawnedService = await spawnGeneratedService(['--missing-percent', missing]);
      const tables = ['--tables', 'assets,creators,attributes', '--format', 'parquet', '--rows-per-part', '100000'];
      const run = ['run', '--ids', place('ids.txt'), '--url', service.url, '--out', place(night), ...tables];
      const ended = await runProgram([...run, '--max-missing', '5%'], {
        cwd: folder.path,
        environment: { ASSET_EXPORT_API_KEY: 'k' },
      });
      await service.stop();
      expect(ended.exit, ended.stderr).toBe(0);
    }
    const diff = ['diff', place('date=2026-11-20'), place('date=2026-11-21'), '--out', place('changes')];
    const compared = await runProgram(diff);
    expect(compared.exit, compared.stderr).toBe(0);
  }, 1_800_000);

  afterAll(() => folder.remove());

  const load = async (name: string, mode: string, more: readonly string[] = []): Promise<void> => {
    const ended = await runProgram(['load', place(name), '--to', address, '--mode', mode, ...more]);
    expect(ended.exit, ended.stderr).toBe(0);
  };

  it.each(modes)(
    'is held up by no load, and sees the rows of before or of after: $what',
    async ({ mode, ...given }) => {
      await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      await load('date=2026-11-20', mode);
      if ('lacks' in given)
        for (const column of given.lacks.split(', ')) await query(`ALTER TABLE assets DROP COLUMN ${column}`);
      const [before = 0] = await countsOf();
      const reading = await startReading();
      onTestFailed(async () => {
        await reading.stop();
      });
      const byChanges = mode === 'scd2';
      await load(byChanges ? 'changes' : 'date=2026-11-21', mode, 'more' in given ? given.more : []);
      const { counts, longestMs, snapshot } = await reading.stop();
      const [after = 0] = await countsOf();
      console.warn(
        `${mode}${'lacks' in given ? ', new columns and indexes' : ''}: the longest wait was ${longestMs.toFixed(1)} ms`,
      );
      expect(longestMs).toBeLessThan(mostWaitMs);
      expect(snapshot).toBe(before);
      expect([...counts].filter((count) => count !== before && count !== after)).toEqual([]);
      expect(counts.size).toBeGreaterThan(0);
      expect(after).toBe(assets);
      expect(before).toBeLessThan(assets);
    },
    1_800_000,
  );

  it('finds tables that hardly grew when the next load changes 1 % of the rows', async () => {
    await query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await load('date=2026-11-21', 'replace');
    const before = await sizeOf();
    await query('DELETE FROM assets WHERE id IN (SELECT id FROM assets TABLESAMPLE BERNOULLI (1) REPEATABLE (7))');
    await load('date=2026-11-21', 'replace');
    expect(await sizeOf()).toBeLessThan(before * 1.05);
    expect(await countsOf()).toEqual([assets]);
  }, 1_800_000);
});

async function countsOf(): Promise<number[]> {
  return (await query('SELECT count(*) FROM assets')).trim().split('\n').map(Number);
}

async function sizeOf(): Promise<number> {
  const sizes = ['assets', 'creators', 'attributes'].map((table) => `pg_total_relation_size('${table}')`);
  return Number(await query(`SELECT ${sizes.join(' + ')}`));
}

interface Reading {
  /** Ends it: the counts that queries saw, the longest wait for the table, and the count of the snapshot from before. */
  readonly stop: () => Promise<{ counts: ReadonlySet<number>; longestMs: number; snapshot: number }>;
}

/** Asks for no row and for the count in turns; another client keeps a snapshot from before. */
async function startReading(): Promise<Reading> {
  const [client, old] = [new pg.Client(address), new pg.Client(address)];
  await Promise.all([client.connect(), old.connect()]);
  await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
  // This takes the snapshot, and no lock that a new column would wait for.
  await old.query('SELECT 1');
  const counts = new Set<number>();
  let longestMs = 0;
  let isOver = false;
  const count = async (by: pg.Client): Promise<number> =>
    Number((await by.query<{ count: string }>('SELECT count(*) FROM assets')).rows[0]?.count);
  const read = async (): Promise<void> => {
    while (!isOver) {
      const began = performance.now();
      // No row: where all rows were written anew, the first one lies behind a million dead ones, which is no wait.
      await client.query('SELECT id, ownership_owner FROM assets LIMIT 0');
      longestMs = Math.max(longestMs, performance.now() - began);
      counts.add(await count(client));
      await new Promise((resolve) => setTimeout(resolve, everyMs));
    }
  };
  const reading = read();
  const end = async () => {
    isOver = true;
    await reading;
    const snapshot = await count(old);
    await Promise.all([client.end(), old.end()]);
    return { counts, longestMs, snapshot };
  };
  let ended: ReturnType<typeof end> | undefined;
  return { stop: () => (ended ??= end()) };
}
