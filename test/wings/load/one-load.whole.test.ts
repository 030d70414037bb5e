import { renameSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadExport, type LoadRequest } from '../../../src/wings/load/load-export.ts';
import type { LoadSummary } from '../../../src/wings/load/load-rows.ts';
import { repairExport } from '../../../src/wings/repair/repair-export.ts';
import { localDisk } from '../../../src/places/files/disk.ts';
import {
  assetIds,
  exportNight,
  fewColumns,
  firstNight,
  type NightRecord,
  secondNight,
  thirdNight,
} from '../warehouse/diff/two-nights.ts';
import { sampled } from '../../model/support/sample.ts';
import { runsAll } from '../../support/lane.ts';
import { noBytes } from '../../support/run-export.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { postgresOfTests } from '../warehouse/postgres-of-tests.ts';
import { emptyDatabases, type OpenedDatabase } from './both-databases.ts';
import { copyUnlocked, watched } from './struck-statements.ts';

const server = await postgresOfTests('histories of loads are not tested in PostgreSQL');
const opened = emptyDatabases(server);

const nights: string[] = [];
let folder: Awaited<ReturnType<typeof keptFolder>>;

const tables = ['assets', 'creators', 'files'];

const fewer = assetIds.filter((_, n) => n < 195 || n > 199);
/** Nights in the order in which they began. Each is based on the one before; one was run anew, one repaired. Columns and ids come and go. */
const listed: readonly { record: NightRecord; ids: readonly string[]; base?: number; more?: object }[] = [
  { record: firstNight, ids: assetIds },
  { record: secondNight, ids: fewer },
  { record: thirdNight, ids: assetIds, more: { exclude: 'burnt,content_json_uri' } },
  { record: secondNight, ids: assetIds.toSpliced(20, 3), more: { tables: 'assets,creators,changes' } },
  { record: firstNight, ids: assetIds },
  // This one is run anew, after its successor was made of it, and repaired of its siblings.
  { record: secondNight, ids: fewer, base: 3, more: { format: 'parquet,csv,raw' } },
  { record: thirdNight, ids: assetIds.toSpliced(90, 7) },
  { record: firstNight, ids: fewer, more: { exclude: 'content_json_uri' } },
  { record: secondNight, ids: assetIds.toSpliced(20, 3) },
  { record: thirdNight, ids: assetIds },
];

const seeds = runsAll ? [11, 12, 13, 14, 15, 16] : [11];
/** Places of a history at which a load is killed. */
const killedPlaces = runsAll ? 32 : 4;

// `npm test` runs one of the four, by the commit.
const cases = sampled(
  seeds.flatMap((seed) =>
    (['duckdb', 'postgres'] as const).flatMap((kind) =>
      (['replace', 'scd2'] as const).map((mode) => [kind, mode, seed] as const),
    ),
  ),
  4,
);

beforeAll(async () => {
  folder = await keptFolder();
  const count = Math.max(...cases.map(([kind, mode]) => nightsFor(kind, mode)));
  for (const [index, { record, ids, more, base = index - 1 }] of listed.slice(0, count).entries()) {
    const flags = {
      base: nights[base] ?? 'none',
      'max-age': '0d',
      'missing-after': '0d',
      tables: [...tables, 'changes'].join(','),
      format: 'csv,raw',
      columns: fewColumns,
      ...more,
    };
    const out = join(folder.path, String(index), 'night');
    nights.push(await exportNight({ record, ids, flags, out }));
    // A repair takes its table of changes away, and makes the rest of its siblings.
    if (index !== 5) continue;
    for (const lost of ['csv/changes', 'parquet/changes', 'csv/assets']) await rm(join(out, lost), { recursive: true });
    const repaired = await repairExport({ folder: out }, { files: localDisk, stdin: noBytes() });
    expect(repaired).toMatchObject({ after: { damage: [] }, notes: [expect.stringContaining('changes')] });
  }
}, 120_000);

afterAll(() => folder.remove());

type Kind = LoadRequest['kind'];

async function load(database: OpenedDatabase, night: number, more: Partial<LoadRequest>): Promise<LoadSummary> {
  let summary: LoadSummary | undefined;
  const kind: Kind = database.address.startsWith('duckdb') ? 'duckdb' : 'postgres';
  const request = { files: localDisk, folder: nights[night] ?? '', kind, mode: 'replace', ...more } as const;
  await loadExport({ maxDeletes: '100%', ...request }, database.target, (loaded) => (summary = loaded));
  if (summary === undefined) throw new Error('no summary');
  return summary;
}

/**
 * Kills a load at one of its statements: PostgreSQL loses the connection there, and the DuckDB file is what it was then.
 * @param at which statement @returns whether it had so many, and the way, if it got so far
 */
async function killedLoad(
  database: OpenedDatabase,
  night: number,
  more: Partial<LoadRequest>,
  at: number,
): Promise<{ readonly isKilled: boolean; readonly way?: LoadSummary['way'] | undefined }> {
  const { kind, address } = database.target;
  const home = dirname(address);
  const then = `${home}_then`;
  const strike = (n: number): 'cut off' | undefined => {
    if (kind === 'postgres') return n >= at ? 'cut off' : undefined;
    if (n === at) copyUnlocked(home, then);
    return undefined;
  };
  let done: LoadSummary | undefined;
  const { count } = await watched(kind, strike, async () => (done = await load(database, night, more)));
  const isKilled = count >= at;
  if (isKilled && kind === 'duckdb') {
    rmSync(home, { recursive: true });
    renameSync(then, home);
  }
  return { isKilled, way: done?.way };
}

async function columnsOf({ rows }: OpenedDatabase): Promise<ReadonlyMap<string, string[]>> {
  const known = await rows(`SELECT table_name, column_name FROM information_schema.columns ORDER BY 1, 2`);
  const columns = known.map((row) => row.split('|'));
  const isTime = (name = ''): boolean => ['fetched_at', 'valid_from', 'valid_to'].includes(name);
  return new Map(
    tables.map((table) => [table, columns.flatMap(([of, name = '']) => (of === table && !isTime(name) ? [name] : []))]),
  );
}

/** The rows of all tables, each as JSON, without times and prices, which are no changes. @param columns by table */
async function contents(
  { rows }: OpenedDatabase,
  { prefix = '', where = '', columns }: { prefix?: string; where?: string; columns: ReadonlyMap<string, string[]> },
): Promise<string[]> {
  const parts = tables.flatMap((table) => {
    const names = columns.get(table)?.map((name) => `"${name}"`) ?? [];
    const from = `${prefix}${table} ${where}`;
    return names.length === 0
      ? []
      : [`SELECT CAST(to_json(t) AS text) FROM (SELECT ${names.join(', ')} FROM ${from}) AS t`];
  });
  const found = await rows(parts.join(' UNION ALL '));
  return found.map((row) => row.replaceAll(/\\*"price_info\\*":\{[^}]*\},?/g, '')).sort();
}

/** What each night holds, by a load into empty tables. */
const wholeNights = new Map<string, { columns: ReadonlyMap<string, string[]>; rows: string[] }>();

async function wholeNight(kind: Kind, night: number) {
  const known = wholeNights.get(`${kind} ${night}`);
  if (known !== undefined) return known;
  const database = await opened(kind);
  expect((await load(database, night, {})).way).toBe('into empty tables');
  const columns = await columnsOf(database);
  const whole = { columns, rows: await contents(database, { columns }) };
  wholeNights.set(`${kind} ${night}`, whole);
  return whole;
}

/** The same numbers for the same seed, from 0 up to `below`. */
function drawn(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 48271) % 2147483647;
    return state % below;
  };
}

interface Step {
  readonly night: number;
  /** Rows were removed by hand before. */
  readonly isTampered: boolean;
}

/** How many of the nights a history takes. A load that replaces in place takes DuckDB the longest. */
function nightsFor(kind: Kind, mode: LoadRequest['mode']): number {
  if (kind === 'duckdb' && mode === 'replace') return 4;
  return runsAll ? listed.length : 6;
}

/** Versions never go back in time. */
function historyOf(kind: Kind, mode: LoadRequest['mode'], draw: (below: number) => number): Step[] {
  const all = Array.from({ length: nightsFor(kind, mode) }, (_, night) => night);
  const inOrder = all.filter(() => mode === 'replace' || draw(4) > 0);
  // A night and the one after it, out of order, twice and skipped.
  const chosen =
    mode === 'scd2' ? inOrder : [...inOrder, ...[1, 2].map(() => draw(runsAll ? listed.length : all.length))];
  return chosen.map((night) => ({ night, isTampered: draw(5) === 0 }));
}

describe('any history of loads, killed anywhere', () => {
  it.each(cases)(
    // Promise, Nothing misread: Any history of loads ends with the export's rows, whichever way `load` chose (sampled)
    'into %s with --mode %s ends with the rows of the export, whichever way (%s)',
    async (kind, mode, seed) => {
      if (kind === 'postgres' && server.isMissing) return;
      const draw = drawn(seed);
      const history = historyOf(kind, mode, draw);
      for (const { night } of history) await wholeNight(kind, night);
      // The first chooses its way, the second compares always. A table of somebody else keeps DuckDB from a new file.
      const [first, second] = [await opened(kind), kind === 'duckdb' ? await opened(kind) : undefined];
      const both = [
        { database: first, prefix: '' },
        { database: second ?? first, prefix: kind === 'duckdb' ? '' : 'b_' },
      ];
      for (const { database } of kind === 'duckdb' ? both : []) await database.rows('CREATE TABLE mine (id text)');
      const ways: unknown[] = [];
      let kills = 0;
      for (const [step, { night, isTampered }] of history.entries()) {
        const { columns, rows: wanted } = await wholeNight(kind, night);
        const where = mode === 'scd2' ? 'WHERE valid_to IS NULL' : '';
        const ends: string[][] = [];
        for (const [index, { database, prefix }] of both.entries()) {
          if (step > 0 && isTampered) await database.rows(`DELETE FROM ${prefix}creators WHERE position = 0`);
          const more = mode === 'replace' ? { allowOlder: true } : {};
          if (step > 0 && index === 1)
            await database.rows(
              `UPDATE _asset_export_loads SET columns = NULL WHERE "table" LIKE 'b%' OR '${kind}' = 'duckdb'`,
            );
          const untilNow = Math.round((killedPlaces * (step + 1)) / history.length);
          while (index === 0 && kills < untilNow) {
            const killed = await killedLoad(database, night, { mode, prefix, ...more }, 1 + draw(80));
            if (killed.isKilled) kills += 1;
            ways.push(killed.way);
          }
          const { way } = await load(database, night, { mode, prefix, ...more });
          if (index === 0) ways.push(way);
          else if (step > 0) expect(way).toBe('by comparing');
          expect(await contents(database, { prefix, where, columns })).toEqual(wanted);
          const whole = [...columns]
            .filter(([, names]) => names.length > 0)
            .map(([table]) => `SELECT CAST(to_json(t) AS text) FROM ${prefix}${table} AS t`);
          const all = await database.rows(whole.join(' UNION ALL '));
          ends.push(all.sort());
        }
        expect(ends[1]).toEqual(ends[0]);
      }
      expect(kills).toBe(killedPlaces);
      for (const way of ['into empty tables', 'by changes', 'by comparing']) expect(ways).toContain(way);
    },
    600_000,
  );
});
