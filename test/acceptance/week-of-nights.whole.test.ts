import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs, utcDay } from '../../src/lib/clock.ts';
import { loadExport, type LoadRequest } from '../../src/wings/load/load-export.ts';
import { parseTarget } from '../../src/wings/load/load-target.ts';
import { generatedId } from '../../packages/practice-service/src/generated/generated-assets.ts';
import { SeededRandom } from '../../packages/practice-service/src/generated/seeded-random.ts';
import { type RunningService, serveGenerated } from '../../src/practice-service.ts';
import { localDisk } from '../../src/places/files/disk.ts';
import { type Manifest, readManifest } from '../../src/places/export/manifest.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { verifyExport } from '../../src/exports/verify-export.ts';
import { clockAt } from '../support/clock-at.ts';
import { sampled } from '../model/support/sample.ts';
import { runsAll } from '../support/lane.ts';
import { queryDuckdb, sqlText } from '../support/query-duckdb.ts';
import { runHere } from '../support/run-here.ts';
import { type ProgramRun, runProgram, startProgram } from '../support/run-program.ts';
import { keptFolder } from '../support/temp-folder.ts';
import { postgresOfTests } from '../wings/warehouse/postgres-of-tests.ts';

/** More of them take minutes: `WEEK_IDS=200000 WEEK_IDS_PER_CALL=1000`. */
const ids = Number(process.env['WEEK_IDS'] ?? (runsAll ? 4000 : 600));
const idsPerCall = Number(process.env['WEEK_IDS_PER_CALL'] ?? 50);
const seed = Number(process.env['WEEK_SEED'] ?? 1);
const rowsPerPart = ids / 8;
const concurrency = 4;
/** Days after Monday. Every second day, so that each class of rows is stale once, and what a poor night leaves is requested later. */
const nights = runsAll ? [0, 1, 2, 3, 4, 5, 6] : [0, 2, 4];
/** Nights on which less than half of the stale rows can be requested. */
const poorNights = runsAll ? [3, 4] : [2];
const monday = Date.UTC(2026, 10, 16, 2);

const changes = {
  seed,
  from: utcDay(monday),
  classes: [
    { when: ['burnt'], share: 0 },
    { when: ['fungible'], share: 0.6 },
    { when: ['immutable'], share: 0.01 },
  ],
  share: 0.05,
  gone: 0.002,
  back: 0.2,
};

/** The same classes in SQL: after how many days a row is stale. */
const maxAge = `CASE WHEN burnt THEN 999 WHEN interface LIKE 'Fungible%' OR token_info_supply IS NOT NULL THEN 1
  WHEN NOT mutable THEN 4 ELSE 2 END`;
const missingAfter = 3;

function jobText(url: string): string {
  return `
ids: { from: ids.txt }
service: { url: '${url}', concurrency: ${concurrency}, idsPerCall: ${idsPerCall}, flags: { showFungible: true } }
base:
  from: out/date=*
  maxAge: 2d
  classes:
    - { when: [burnt], maxAge: never }
    - { when: [fungible], maxAge: 1d }
    - { when: [immutable], maxAge: 4d }
  missingAfter: ${missingAfter}d
output: { dir: 'out/date={date}', formats: [parquet], tables: [assets, creators, changes], rowsPerPart: ${rowsPerPart}, latest: true }
`;
}

/** The ids of a night: some are new, and each night others are left out. */
function idsOf(night: number): string[] {
  const all = Array.from({ length: ids + (night * ids) / 100 }, (_, n) => generatedId(seed, n));
  return all.filter((_, n) => n % 500 !== night);
}

const { isMissing, query, address } = await postgresOfTests('a week of nights is not loaded into PostgreSQL');

let folder: Awaited<ReturnType<typeof keptFolder>>;
let service: RunningService;
let nowMs = monday;

beforeAll(async () => {
  folder = await keptFolder();
  const clock = { ...systemClock, now: () => nowMs };
  service = await serveGenerated(2, { host: '127.0.0.1', port: 0, clock, changes });
  await mkdir(join(folder.path, 'state'));
  await writeFile(join(folder.path, 'job.yaml'), jobText(service.url));
});

afterAll(async () => {
  await service.close();
  await folder.remove();
});

const environment = () => ({ ASSET_EXPORT_API_KEY: 'k', ASSET_EXPORT_STATE: join(folder.path, 'state') });
const programOptions = () => ({ cwd: folder.path, environment: { ...environment(), ...clockAt(nowMs) } });

/** What is not killed needs no process of its own, but the clock of the night. */
async function undisturbed(args: readonly string[]): Promise<ProgramRun> {
  if (runsAll) return runProgram(args, programOptions());
  const { now } = Date;
  const shift = nowMs - now();
  // A mock would keep each of its many calls.
  Date.now = () => now() + shift;
  try {
    return await runHere([...args, '--threads', '1'], { cwd: folder.path, environment: environment() });
  } finally {
    Date.now = now;
  }
}

async function planned(flags: readonly string[]): Promise<{ credits: number; calls: number }> {
  const { stdout, exit, stderr } = await undisturbed(['plan', 'job.yaml', '--json', ...flags]);
  expect(exit, stderr).toBe(0);
  return JSON.parse(stdout) as { credits: number; calls: number };
}

/** Nights whose runs are killed, and how often, at most. */
const killedNights = sampled(nights, 3);
const killsANight = runsAll ? 2 : 1;

/** Runs to the end, killed at random moments of so many milliseconds. Resolves to the number of kills. */
async function runKilled(
  flags: readonly string[],
  random: SeededRandom,
  withinMs: number,
  times: number,
): Promise<number> {
  let kills = 0;
  for (let turn = 0; turn < times; turn += 1) {
    const { child, ended } = startProgram(['run', 'job.yaml', ...flags], programOptions());
    const timer = setTimeout(() => child.kill('SIGKILL'), random.below(withinMs));
    const { exit } = await ended;
    clearTimeout(timer);
    if (exit === 'SIGKILL') kills += 1;
  }
  const last = await undisturbed(['run', 'job.yaml', ...flags]);
  expect(last.exit, last.stderr).toBe(0);
  return kills;
}

async function manifestOf(path: string): Promise<Manifest> {
  const manifest = await readManifest(localDisk, join(folder.path, path));
  if (manifest === undefined) throw new Error(`${path} is not complete`);
  return manifest;
}

const parquet = (top: string, night: string, table: string): string =>
  `read_parquet(${sqlText(join(folder.path, top, `date=${night}`, 'parquet', table, '*.parquet'))}, hive_partitioning = false)`;

async function countOf(sql: string): Promise<number> {
  const [[count] = []] = await queryDuckdb(`SET TimeZone = 'UTC'; SELECT count(*) FROM (${sql})`);
  return Number(count);
}

async function load(target: string, night: string, more: Partial<LoadRequest>): Promise<void> {
  const kind = target.startsWith('duckdb:') ? 'duckdb' : 'postgres';
  const request = {
    files: localDisk,
    folder: join(folder.path, 'out', `date=${night}`),
    kind,
    maxDeletes: '10%',
  } as const;
  await loadExport({ ...request, mode: 'replace', ...more }, parseTarget(target, '/'), () => undefined);
}

const duckdbFile = (): string => join(folder.path, 'warehouse.duckdb');

/** Rows that one of two queries has and the other has not. */
const differing = (first: string, second: string): string =>
  `(${first}) EXCEPT ALL (${second})) UNION ALL ((${second}) EXCEPT ALL (${first})`;

const loadedTables = ['assets', 'creators'] as const;

/** How many rows of the loaded tables are not those of the night. */
async function wrongInDuckdb(night: string): Promise<number> {
  const instance = await DuckDBInstance.create(duckdbFile());
  const connection = await instance.connect();
  let wrong = 0;
  for (const table of loadedTables) {
    const hidden = table === 'assets' ? 'EXCLUDE (fetched_at)' : '';
    const rows = differing(
      `SELECT * ${hidden} FROM ${table}`,
      `SELECT * ${hidden} FROM ${parquet('out', night, table)}`,
    );
    const found = await connection.runAndReadAll(`SELECT count(*) FROM ((${rows}))`);
    wrong += Number(found.getRows()[0]?.[0]);
  }
  connection.closeSync();
  instance.closeSync();
  return wrong;
}

const postgresColumns = async (table: string): Promise<string> =>
  (
    await query(
      `SELECT string_agg(quote_ident(column_name), ',' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'w_${table}' AND column_name <> 'fetched_at'`,
    )
  ).trim();

/** The same in PostgreSQL, of tables with a prefix; JSON there has no equality, so rows are compared as text. */
async function wrongInPostgres(prefix: string, where: string): Promise<number> {
  let wrong = 0;
  for (const table of loadedTables) {
    const columns = await postgresColumns(table);
    const rows = (name: string, filter: string): string => `SELECT ROW(${columns})::text FROM ${name} ${filter}`;
    const sql = `SELECT count(*) FROM ((${differing(rows(`${prefix}${table}`, where), rows(`w_${table}`, ''))})) AS rows`;
    wrong += Number(await query(sql));
  }
  return wrong;
}

describe(`a week of nights of ${ids} ids`, () => {
  const random = new SeededRandom([seed, 2, 3, 4]);
  let withinMs = 6000;

  it.each(nights)(
    'night %i: what is requested is what the policy says, and plan named its price',
    async (night) => {
      nowMs = monday + night * dayMs + random.below(600_000);
      const today = utcDay(nowMs);
      await writeFile(join(folder.path, 'ids.txt'), `${idsOf(night).join('\n')}\n`);
      const full = ['--base', 'none', '--tables', 'assets,creators'];
      const wanted = await undisturbed(['run', 'job.yaml', ...full, '--out', 'full/date={date}']);
      expect(wanted.exit, wanted.stderr).toBe(0);

      const flags = night === 0 ? full : [];
      if (poorNights.includes(night)) {
        const { calls } = await planned([]);
        flags.push('--base-credits', String(Math.floor(calls / 2) * 160));
      }
      const plan = await planned(flags);
      const before = service.counts().credits;
      const startMs = Date.now();
      const kills = await runKilled(flags, random, withinMs, killedNights.includes(night) ? killsANight : 0);
      withinMs = Math.min(withinMs, Date.now() - startMs);
      const charged = service.counts().credits - before;
      expect(charged).toBeGreaterThanOrEqual(plan.credits);
      // Missing ids are checked by one call more (docs/credits.md), which a killed run may have begun.
      expect(charged).toBeLessThanOrEqual(plan.credits + (kills * (concurrency + 1) + 1) * 160);

      const manifest = await manifestOf(`out/date=${today}`);
      const { counts, base } = manifest;
      expect(
        counts.exported + counts.carried + counts.missing + counts.invalid + counts.duplicate + counts.failed,
      ).toBe(counts.read);
      expect(manifest.credits).toBeGreaterThanOrEqual(charged);
      const tonight = parquet('out', today, 'assets');
      const all = `SELECT fetched_at::DATE AS day, * EXCLUDE (fetched_at) FROM`;
      // Every row is that of a full export of the night that requested it.
      expect(await countOf(`${all} ${tonight} EXCEPT ALL ${all} ${parquet('full', '*', 'assets')}`)).toBe(0);
      // None is older than its class allows, but for those that the budget did not reach.
      const age = `date_diff('day', fetched_at::DATE, DATE '${today}')`;
      expect(await countOf(`FROM ${tonight} WHERE ${age} >= ${maxAge}`)).toBe(base?.overdue ?? 0);
      expect((base?.overdue ?? 0) > 0).toBe(poorNights.includes(night));
      // What the service has and the night lacks was missing a few days ago.
      const unexported = `read_csv(${sqlText(join(folder.path, 'out', `date=${today}`, 'unexported', '*.csv'))}, all_varchar = true)`;
      const since = `regexp_extract(reason, 'missing since (\\d{4}-\\d\\d-\\d\\d), ', 1)`;
      const waiting = `SELECT id FROM ${unexported} WHERE outcome = 'missing' AND ${since} <> '' AND date_diff('day', ${since}::DATE, DATE '${today}') < ${missingAfter}`;
      const lacking = `SELECT id FROM ${parquet('full', today, 'assets')} EXCEPT SELECT id FROM ${tonight}`;
      expect(await countOf(`(${lacking}) EXCEPT (${waiting})`)).toBe(0);
      expect((await verifyExport(localDisk, join(folder.path, 'out', `date=${today}`))).damage).toEqual([]);
    },
    1_200_000,
  );

  it('changes applied night by night to DuckDB give the tables of each night', async () => {
    for (const night of nights) {
      const day = utcDay(monday + night * dayMs);
      await load(`duckdb:${duckdbFile()}`, day, {});
      expect(await wrongInDuckdb(day)).toBe(0);
    }
  }, 1_200_000);

  it.skipIf(isMissing)(
    'and to PostgreSQL, where scd2 keeps every night',
    async () => {
      for (const night of nights) {
        const day = utcDay(monday + night * dayMs);
        await load(address, day, { prefix: 'm_' });
        await load(address, day, { mode: 'scd2', prefix: 'h_' });
        await load(address, day, { allowOlder: true, prefix: 'w_' });
        expect(await wrongInPostgres('m_', '')).toBe(0);
        expect(await wrongInPostgres('h_', 'WHERE valid_to IS NULL')).toBe(0);
      }
      const first = utcDay(monday);
      await load(address, first, { allowOlder: true, prefix: 'w_' });
      const then = `WHERE valid_from::date = '${first}'`;
      expect(await wrongInPostgres('h_', then)).toBe(0);
    },
    1_200_000,
  );
});
