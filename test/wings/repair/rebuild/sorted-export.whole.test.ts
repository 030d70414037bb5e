import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parquetMetadata } from 'hyparquet';
import { beforeAll, describe, expect, it } from 'vitest';
import { readRows } from '../../../../src/exports/finished-export.ts';
import { dayMs, systemClock } from '../../../../src/lib/clock.ts';
import { generatedId } from '../../../../packages/practice-service/src/generated/generated-assets.ts';
import { serveGenerated } from '../../../../src/practice-service.ts';
import { localDisk } from '../../../../src/places/files/disk.ts';
import { type Manifest, readManifest } from '../../../../src/places/export/manifest.ts';
import { openSource, rebuildExport, rebuiltJob } from '../../../../src/wings/repair/rebuild/rebuild-export.ts';
import { type SortOrder, sortColumns } from '../../../../src/wings/repair/rebuild/sorted-records.ts';
import { runsAll } from '../../../support/lane.ts';
import { firstNight } from '../../../support/nights.ts';
import { queryDuckdb, sqlText } from '../../../support/query-duckdb.ts';
import { exportBytes, runExport } from '../../../support/run-export.ts';
import { runHere } from '../../../support/run-here.ts';
import { keptFolder, tempFolder } from '../../../support/temp-folder.ts';

const tables = ['assets', 'creators', 'attributes'];

let folder: string;
/** With all tests of as many assets as the contract names. */
let source: string;
let small: string;

/** 6 % of the ids are missing, one entry is no id, and one comes twice. */
async function exported(rows: number, idsPerCall: number): Promise<string> {
  const out = join(folder, `of-${rows}`);
  const ids = Array.from({ length: rows }, (_, n) => generatedId(6, n));
  await writeFile(`${out}.txt`, [...ids.slice(0, 9), 'no-id', ids[0], ...ids.slice(9)].join('\n'));
  const service = await serveGenerated(6, { host: '127.0.0.1', port: 0, clock: systemClock });
  const outcome = await runExport({
    flags: {
      ids: `${out}.txt`,
      url: service.url,
      out,
      threads: '1',
      tables: tables.join(),
      format: 'parquet,csv',
      'rows-per-part': String(rows / 4),
      'ids-per-call': String(idsPerCall),
      'exported-at': true,
    },
    context: { clock: { ...systemClock, now: () => firstNight } },
  });
  await service.close();
  expect(outcome.error).toBeUndefined();
  return out;
}

beforeAll(async () => {
  const kept = await keptFolder();
  folder = kept.path;
  small = await exported(400, 20);
  source = runsAll ? await exported(1_000_000, 1000) : small;
  return () => kept.remove();
}, 3_600_000);

async function sortedBy(columns: readonly string[], more: Partial<SortOrder> = {}, from = source): Promise<string> {
  const to = await tempFolder();
  const finished = await openSource(from, localDisk);
  const sort = { columns: sortColumns(columns), memoryBytes: 1e9, ...more };
  const outcome = await runExport({
    flags: { ids: '/dev/null', url: 'http://127.0.0.1:9', out: to },
    context: { clock: { ...systemClock, now: () => firstNight + 9 * dayMs } },
    make: (_, all) =>
      rebuildExport({ source: finished, job: rebuiltJob(finished, to, {}), join: 1, sort, fresh: false }, all),
  });
  expect(outcome.error).toBeUndefined();
  return to;
}

async function manifestOf(of: string): Promise<Manifest | undefined> {
  return readManifest(localDisk, of);
}

/** Rows that one of them has and the other has not. */
async function differing(one: string, other: string, table: string): Promise<number> {
  const of = (at: string): string => `SELECT * FROM ${sqlText(join(at, `parquet/${table}/*.parquet`))}`;
  const query = (a: string, b: string): string => `SELECT count(*) FROM (${of(a)} EXCEPT ALL ${of(b)})`;
  const [[left], [right]] = [
    (await queryDuckdb(query(one, other)))[0] ?? [],
    (await queryDuckdb(query(other, one)))[0] ?? [],
  ].map((found) => found.map(Number)) as [number[], number[]];
  return (left ?? -1) + (right ?? -1);
}

/** Most row groups of the files of a table whose bounds of a column include one value. */
async function mostGroups(of: string, column: string): Promise<number> {
  const files = (await manifestOf(of))?.files.filter(({ table, format }) => table === 'assets' && format === 'parquet');
  const bounds: (readonly [least: string, most: string])[] = [];
  for (const { path } of files ?? []) {
    const { row_groups } = parquetMetadata(new Uint8Array(await readFile(join(of, path))).buffer);
    for (const { columns } of row_groups) {
      const { statistics } = columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === column)?.meta_data ?? {};
      const [least, most] = [statistics?.min_value, statistics?.max_value];
      if (typeof least === 'string' && typeof most === 'string') bounds.push([least, most]);
    }
  }
  const values = (
    await queryDuckdb(
      `SELECT DISTINCT ${column} FROM ${sqlText(join(of, 'parquet/assets/*.parquet'))} WHERE ${column} IS NOT NULL`,
    )
  ).map(([value]) => String(value));
  return Math.max(...values.map((value) => bounds.filter(([least, most]) => least <= value && value <= most).length));
}

describe('an export that is sorted', () => {
  it('has the rows of its source, in the order of the columns, nulls last, with children after their assets', async () => {
    const to = await sortedBy(['collection']);
    for (const table of tables) expect(await differing(source, to, table), table).toBe(0);
    let before: readonly [collection: string | null, id: string] = ['', ''];
    const order: string[] = [];
    for await (const { collection = null, id } of readRows({ files: localDisk, folder: to, table: 'assets' })) {
      const now = [collection === null ? null : String(collection), String(id)] as const;
      const follows =
        now[0] === before[0] ? now[1] > before[1] : now[0] === null || (before[0] !== null && now[0] > before[0]);
      if (!follows) expect([before, now]).toBe('in order');
      before = now;
      order.push(now[1]);
    }
    expect(before[0]).toBeNull();
    const places = new Map(order.map((id, at) => [id, at]));
    let last = [-1, -1];
    for await (const { asset_id, position } of readRows({ files: localDisk, folder: to, table: 'creators' })) {
      const now = [places.get(String(asset_id)) ?? -1, Number(position)];
      const [place = -1, at = -1] = now;
      const follows = place > (last[0] ?? 0) || (place === last[0] && at > (last[1] ?? 0));
      if (!follows) expect([last, now]).toBe('in order');
      last = now;
    }
    const [made, had] = [await manifestOf(to), await manifestOf(source)];
    expect(made).toMatchObject({ sorted: ['collection', 'id'], encoding: 2, counts: had?.counts });
    expect(made?.commits.map(({ counts }) => counts)).toEqual(had?.commits.map(({ counts }) => counts));
    expect(await mostGroups(to, 'collection')).toBeLessThanOrEqual(3);
  }, 3_600_000);

  // Promise, Nothing misread: A sorted rebuild has its source's rows, and the same bytes with any memory
  it('has the same bytes with little memory and with much', async () => {
    const columns = ['collection', 'content_metadata_name'];
    const much = exportBytes(await sortedBy(columns));
    expect(exportBytes(await sortedBy(columns, { memoryBytes: 200e6 }))).toEqual(much);
    const muchOfSmall = source === small ? much : exportBytes(await sortedBy(columns, {}, small));
    expect(exportBytes(await sortedBy(columns, { memoryBytes: 20_000 }, small))).toEqual(muchOfSmall);
  }, 3_600_000);

  it('depends on the rows and not on their order: sorted again it has the same tables', async () => {
    const to = await sortedBy(['royalty_basis_points', 'mutable'], {}, small);
    const again = await sortedBy(['royalty_basis_points', 'mutable'], {}, await sortedBy(['ownership_owner'], {}, to));
    const tablesOf = (of: string): [string, string][] =>
      Object.entries(exportBytes(of)).filter(([path]) => path !== 'manifest.json');
    expect(tablesOf(again)).toEqual(tablesOf(to));
  });

  it('is resumed after a kill: the parts that are made stay', async () => {
    const whole = await sortedBy(['collection'], {}, small);
    const to = await tempFolder();
    const finished = await openSource(small, localDisk);
    const sort = { columns: ['collection', 'id'], memoryBytes: 1e9 };
    const stop = new AbortController();
    const make = (signal: AbortSignal) =>
      runExport({
        flags: { ids: '/dev/null', url: 'http://127.0.0.1:9', out: to },
        context: {
          clock: { ...systemClock, now: () => firstNight + 9 * dayMs },
          stop: signal,
          listener: (event) => {
            if (event.kind === 'committed') stop.abort(new Error('stopped'));
          },
        },
        make: (_, all) =>
          rebuildExport({ source: finished, job: rebuiltJob(finished, to, {}), join: 1, sort, fresh: false }, all),
      });
    await expect(make(stop.signal)).rejects.toThrow('stopped');
    expect((await make(new AbortController().signal)).state).toBe('complete');
    expect(exportBytes(to)).toEqual(exportBytes(whole));
  });

  it('is verified, compared and loaded, and refused as a base and for a repair', async () => {
    const to = await sortedBy(['collection'], {}, small);
    const run = (...args: string[]) =>
      runHere(args, { cwd: folder, environment: { ASSET_EXPORT_API_KEY: 'k', ASSET_EXPORT_STATE: folder } });
    expect((await run('verify', to)).exit).toBe(0);
    expect((await run('diff', small, to, '--exit-code')).exit).toBe(0);
    const loaded = await run('load', to, '--to', `duckdb:${join(folder, 'a.duckdb')}`);
    expect(loaded.exit, loaded.stderr).toBe(0);
    await writeFile(join(folder, 'ids.txt'), `${generatedId(6, 0)}\n`);
    const job = ['--ids', 'ids.txt', '--url', 'http://127.0.0.1:9'];
    const night = await run('run', ...job, '--out', 'night', '--base', to);
    expect(night.exit, night.stderr).toBe(2);
    expect(night.stderr).toContain('its assets are sorted');
    const repaired = await run('verify', to, '--repair', ...job);
    expect(repaired.exit, repaired.stderr).toBe(2);
    expect(repaired.stderr).toContain('Rebuild it from its source');
    const [file] = (await manifestOf(to))?.files ?? [];
    await rm(join(to, file?.path ?? ''));
    const damaged = await run('verify', to);
    expect(damaged).toMatchObject({ exit: 12 });
    expect(damaged.stdout).toContain('sort its source again: asset-export rebuild SOURCE --sort COLUMNS --out NEW');
    expect(damaged.stdout).not.toContain('--repair');
  });

  it('is a command, which refuses columns that do not exist', async () => {
    const run = (...args: string[]) => runHere(args, { cwd: folder });
    const made = await run('rebuild', small, '--out', 'sorted', '--sort', 'collection,id', '--memory', '500MB');
    expect(made.exit, made.stderr).toBe(0);
    expect((await manifestOf(join(folder, 'sorted')))?.sorted).toEqual(['collection', 'id']);
    const other = await run('rebuild', small, '--out', 'sorted', '--sort', 'burnt');
    expect(other).toMatchObject({ exit: 2 });
    expect(other.stderr).toContain('--sort was collection,id when ');
    const unknown = await run('rebuild', small, '--out', 'other', '--sort', 'colection');
    expect(unknown).toMatchObject({ exit: 2 });
    expect(unknown.stderr).toContain('Did you mean collection?');
    expect((await run('rebuild', small, '--out', 'other', '--sort', 'burnt,burnt')).exit).toBe(2);
    expect((await run('rebuild', small, '--out', 'other', '--memory', '1GB')).exit).toBe(2);
  });
});
