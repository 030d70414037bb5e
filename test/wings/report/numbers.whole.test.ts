import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import { beforeAll, describe, expect, it } from 'vitest';
import { tables } from '../../../src/core/records/columns.ts';
import { reportPage } from '../../../src/wings/report/page/page.ts';
import type { LabelledCount, Ranking } from '../../../src/wings/report/profile/profile-source.ts';
import type { ReportData } from '../../../src/wings/report/report-data.ts';
import type { Manifest } from '../../../src/places/export/manifest.ts';
import { writeIdFile } from '../../support/id-file.ts';
import { sqlName, sqlText } from '../../support/query-duckdb.ts';
import { runHere } from '../../support/run-here.ts';
import { spawnGeneratedService } from '../../support/service/spawned-service.ts';
import { keptFolder } from '../../support/temp-folder.ts';
import { dataOf } from './made-export.ts';
import { readPage } from './read-page.ts';
import { runsAll } from '../../support/lane.ts';

const entries = runsAll ? 100_000 : 10_000;

/** The page counts in Parquet; here the same is asked of the CSV, by queries of the test. */
const names = tables.map(({ name }) => name);

let data: ReportData;
let manifest: Manifest;
let text: string;
let connection: DuckDBConnection;

async function query(sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRows();
}

/** Numbers of one row. */
async function numbers(sql: string): Promise<number[]> {
  const [row = []] = await query(sql);
  return row.map((cell) => Number(cell));
}

/** Groups of a query: a value, and how often it is there. */
async function groups(sql: string): Promise<{ value: string; count: number }[]> {
  return (await query(sql)).map(([value, count]) => ({ value: String(value), count: Number(count) }));
}

beforeAll(async () => {
  const kept = await keptFolder();
  const service = await spawnGeneratedService(['--missing-percent', '2']);
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' });
  connection = await instance.connect();
  const folder = join(kept.path, 'out');
  await writeIdFile(join(kept.path, 'ids.txt'), { entries, invalidPercent: 1, duplicatePercent: 1 });
  const tablesAndFormats = [
    '--tables',
    names.join(),
    '--format',
    'parquet,csv',
    '--rows-per-part',
    String(entries * 0.3),
  ];
  const where = ['--ids', join(kept.path, 'ids.txt'), '--url', service.url, '--out', folder];
  const environment = { ASSET_EXPORT_API_KEY: 'key', ASSET_EXPORT_STATE: join(kept.path, 'state') };
  const run = await runHere(['run', ...where, ...tablesAndFormats], { cwd: kept.path, environment });
  expect(run.exit, run.stderr).toBe(0);
  data = await dataOf(folder);
  manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
  text = readPage(reportPage(data)).text;
  for (const name of names) {
    await query(
      `CREATE TABLE ${name} AS FROM read_csv(${sqlText(`${folder}/csv/${name}/*.csv`)}, header = true, all_varchar = true, allow_quoted_nulls = false, nullstr = '')`,
    );
  }
  return async () => {
    connection.closeSync();
    instance.closeSync();
    await service.stop();
    await kept.remove();
  };
}, 180_000);

describe(`of ${entries} ids, the numbers of a report`, () => {
  it('of the account are those of the manifest', () => {
    const { counts, calls, credits, parts, notes, inputs } = manifest;
    expect(counts.read).toBe(entries);
    expect(data).toMatchObject({ counts, calls, credits, parts, pending: 0, notes, inputs });
    expect(data.rows).toBe(Object.values(manifest.tables).reduce((sum, { rows }) => sum + rows, 0));
    for (const { name, rows, columns } of data.tables) {
      const written = manifest.tables[name];
      expect([rows, columns]).toEqual([written?.rows, written?.columns.length]);
    }
    for (const { table, format, files, rows, bytes } of data.files) {
      const mine = manifest.files.filter((file) => file.table === table && file.format === format);
      const sum = (of: (file: (typeof mine)[number]) => number): number =>
        mine.reduce((all, file) => all + of(file), 0);
      expect([table, format, files, rows, bytes]).toEqual([
        ...[table, format, mine.length, sum((file) => file.rows), sum((file) => file.bytes)],
      ]);
    }
    const byKey = <T extends { kind: string; path: string }>(rows: readonly T[]): T[] =>
      [...rows].sort((a, b) => (`${a.kind} ${a.path}` < `${b.kind} ${b.path}` ? -1 : 1));
    expect(byKey(data.drift.rows)).toEqual(byKey(manifest.drift));
  });

  it('of its run are those of the account', () => {
    const { calls, credits, counts } = manifest;
    expect(data.runs?.runs).toMatchObject([
      { n: 1, calls, credits, ids: counts.exported + counts.missing, parts: manifest.parts, exit: 0 },
    ]);
    expect(data.runs?.parts.map(({ part }) => part)).toEqual([...Array(manifest.parts).keys()]);
  });

  it('of every column are those of queries of their own', async () => {
    const wrong: unknown[] = [];
    for (const table of data.profile?.tables ?? []) {
      const [rows = 0] = await numbers(`SELECT count(*) FROM ${table.name}`);
      expect(table.rows).toBe(rows);
      for (const column of table.columns) {
        const name = sqlName(column.name);
        const [filled, distinct, emptyText, longest] = await numbers(
          `SELECT count(${name}), count(DISTINCT ${name}), count(*) FILTER (${name} = ''), max(length(${name})) FROM ${table.name}`,
        );
        const told = [column.filled, column.distinct, column.emptyText, column.longest ?? longest];
        if (told.join() !== [filled, distinct, emptyText, longest].join()) wrong.push([table.name, column.name, told]);
        if (column.bins.length > 0 && column.bins.reduce((sum, { count }) => sum + count, 0) !== filled)
          wrong.push([table.name, column.name, 'bins']);
        const short = column.top.filter(({ value }) => value.length < 160 && !value.includes('\\'));
        const all = new Map(
          (
            await groups(
              `SELECT ${name}, count(*) FROM ${table.name} WHERE ${name} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 400`,
            )
          ).map(({ value, count }) => [value, count]),
        );
        for (const { value, count } of short)
          if (count > 20 && all.get(value) !== count)
            wrong.push([table.name, column.name, value, count, all.get(value)]);
      }
    }
    expect(wrong).toEqual([]);
  }, 60_000);

  it('of the assets are those of queries of their own', async () => {
    const cards = data.profile?.cards;
    if (cards === undefined) throw new Error('no profile');
    const ranked = async (ranking: Ranking | undefined, table: string, value: string): Promise<void> => {
      if (ranking === undefined) throw new Error(`no ranking of ${value}`);
      const all = await groups(
        `SELECT ${value} AS v, count(*) AS n FROM ${table} WHERE ${value} <> '' GROUP BY v ORDER BY n DESC, v`,
      );
      const [rows = 0] = await numbers(`SELECT count(*) FROM ${table}`);
      expect(ranking.top.map(({ value: told, count }) => ({ value: told, count }))).toEqual(
        all.slice(0, ranking.top.length),
      );
      const others = all.slice(ranking.top.length);
      expect(ranking.others).toMatchObject({
        values: others.length,
        count: others.reduce((sum, { count }) => sum + count, 0),
      });
      expect(ranking.without).toBe(rows - all.reduce((sum, { count }) => sum + count, 0));
    };
    await ranked(cards.interfaces, 'assets', 'interface');
    await ranked(cards.collections, 'assets', 'collection');
    await ranked(cards.traits, 'attributes', 'trait_type');
    for (const [name, column] of [
      ['mutable', 'mutable'],
      ['burnt', 'burnt'],
      ['compressed', 'compression_compressed'],
      ['frozen', 'ownership_frozen'],
      ['delegated', 'ownership_delegated'],
      ['primary sale', 'royalty_primary_sale_happened'],
    ] as const) {
      const found = await numbers(
        `SELECT count(*) FILTER (${column} = 'true'), count(*) FILTER (${column} = 'false'), count(*) FILTER (${column} IS NULL) FROM assets`,
      );
      const share = cards.shares.find((each) => each.name === name);
      expect([name, share?.yes, share?.no, share?.null]).toEqual([name, ...found]);
    }
    for (const trait of cards.traits?.top.slice(0, 3) ?? []) {
      const values = await groups(
        `SELECT value AS v, count(*) AS n FROM attributes WHERE trait_type = ${sqlText(trait.value)} AND value IS NOT NULL GROUP BY v ORDER BY n DESC, v`,
      );
      expect([trait.distinct, trait.values]).toEqual([values.length, values.slice(0, trait.values.length)]);
    }
    const classes = async (told: readonly LabelledCount[] | undefined, sql: string): Promise<void> => {
      const found = new Map((await groups(sql)).map(({ value, count }) => [value, count]));
      expect(
        Object.fromEntries((told ?? []).filter(({ count }) => count > 0).map(({ label, count }) => [label, count])),
      ).toEqual(Object.fromEntries(found));
    };
    await classes(
      cards.royalty,
      `SELECT CASE WHEN p >= 1000 THEN '≥ 1,000' ELSE concat(p - p % 50, '–', p - p % 50 + 49) END AS c, count(*)
       FROM (SELECT royalty_basis_points::BIGINT AS p FROM assets WHERE royalty_basis_points IS NOT NULL) GROUP BY c`,
    );
    for (const [told, table, most] of [
      [cards.creatorsPerAsset, 'creators', 10],
      [cards.attributesPerAsset, 'attributes', 20],
    ] as const) {
      await classes(
        told,
        `SELECT CASE WHEN n >= ${most} THEN '≥ ${most}' ELSE n::VARCHAR END AS c, count(*)
         FROM (SELECT count(asset_id) AS n FROM assets LEFT JOIN ${table} ON id = asset_id GROUP BY id) GROUP BY c`,
      );
    }
  }, 60_000);

  it('of the reasons add up to the fates', () => {
    const ids = (fate: string): number =>
      data.unexported.groups.filter((group) => group.fate === fate).reduce((sum, group) => sum + group.ids, 0);
    const { missing, invalid, duplicate, failed } = manifest.counts;
    const more = data.unexported.more.ids;
    expect([ids('missing'), ids('invalid') + more, ids('duplicate'), ids('failed')]).toEqual([
      ...[missing, invalid, duplicate, failed],
    ]);
  });

  it('are all that the page shows', () => {
    const known = new Set<number>();
    const take = (value: unknown): void => {
      if (typeof value === 'number') known.add(Math.round(value));
      // Values of records are texts of their own.
      else if (typeof value === 'string')
        for (const found of value.match(/\d{1,3}(?:,\d{3})+/g) ?? []) known.add(Number(found.replaceAll(',', '')));
      else if (typeof value === 'object' && value !== null) Object.values(value).forEach(take);
    };
    take(data);
    const shown = (text.match(/\b\d{1,3}(?:,\d{3})+\b/g) ?? []).map((each) => Number(each.replaceAll(',', '')));
    expect(shown.length).toBeGreaterThan(100);
    expect([...new Set(shown)].filter((each) => !known.has(each))).toEqual([]);
  });
});
