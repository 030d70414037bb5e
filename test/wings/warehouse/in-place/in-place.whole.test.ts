import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assetsTable, tables } from '../../../../src/core/records/columns.ts';
import { shapeTable, wholeTables } from '../../../../src/core/records/shape-table.ts';
import type { Table } from '../../../../src/core/records/table.ts';
import {
  type InPlaceName,
  inPlaceNames,
  inPlaceNights,
  inPlaceTable,
} from '../../../../src/wings/warehouse/in-place/in-place-engines.ts';
import { nightsView, wholeView } from '../../../../src/wings/warehouse/in-place/in-place-views.ts';
import { nightsAddress } from '../../../../src/wings/warehouse/in-place/nights-address.ts';
import { assetIds, exportNight, firstNight } from '../diff/two-nights.ts';
import { clickhouseOfTests } from '../engines/clickhouse-of-tests.ts';
import { type GrammarName, grammarsOfTests } from '../engines/grammars-of-tests.ts';
import { zetasqlOfTests } from '../engines/zetasql-of-tests.ts';
import { keptFolder } from '../../../support/temp-folder.ts';
import { queryDuckdb } from '../../../support/query-duckdb.ts';
import { problemOf } from '../sql-parser.ts';

const clickhouse = clickhouseOfTests('views over nights are not run in ClickHouse');
const grammarProblem = await grammarsOfTests('statements for Trino, Spark and Athena are not parsed by their grammars');
const bigqueryProblem = await zetasqlOfTests("BigQuery's external tables are not parsed by its own parser");

const grammars: Readonly<Record<InPlaceName, GrammarName>> = {
  athena: 'hive',
  trino: 'trino',
  spark: 'spark',
  databricks: 'spark',
};
const stamped = shapeTable(assetsTable, { ...wholeTables, hasFetchedAt: true }).table;
const shown: readonly Table[] = [...tables, stamped];
const s3 = nightsAddress('s3://bucket/nightly/date=*', '2026-11-20');
const files = (table: Pick<Table, 'name'>): string => `parquet/${table.name}/`;

describe.each(inPlaceNames)('for %s', (name) => {
  it('the statements are those of the golden file', async () => {
    const { table } = shapeTable(assetsTable, {
      ...wholeTables,
      columns: ['id', 'creators', 'royalty_percent'],
      exportedAtUs: 0,
    });
    const whole = inPlaceTable(name, table, `s3://bucket/out/${files(table)}`);
    await expect(`${whole}\n${inPlaceNights(name, table, s3, files(table))}`).toMatchFileSnapshot(`golden/${name}.sql`);
  });

  it.skipIf(grammarProblem === undefined)('the grammar of the engine takes every statement', () => {
    for (const table of shown) {
      const whole = inPlaceTable(name, table, `s3://bucket/out/${files(table)}`);
      const nights = inPlaceNights(name, table, s3, files(table));
      for (const text of [whole, nights]) expect(grammarProblem?.(grammars[name], text), text).toBeUndefined();
    }
    expect(grammarProblem?.(grammars[name], 'CREATE TABLE a (b')).toBeDefined();
  });

  it('names each column once, and describes it', () => {
    for (const table of tables) {
      const lines = inPlaceTable(name, table, `s3://bucket/out/${files(table)}`).split('\n');
      for (const column of table.columns) {
        const mine = lines.filter((line) => new RegExp(`^  ["\`]${column.name}["\`] `).test(line));
        expect(mine).toHaveLength(1);
        expect(mine[0]).toContain('COMMENT ');
      }
    }
  });
});

it('Azure has a name of its own for these engines, and Spark reads S3 by s3a', () => {
  const table = { name: 'assets', columns: [] };
  expect(inPlaceTable('trino', table, 'az://acc/box/out/parquet/assets/')).toContain(
    "'abfss://box@acc.dfs.core.windows.net/out/parquet/assets/'",
  );
  expect(inPlaceTable('spark', table, 's3://b/out/')).toContain("LOCATION 's3a://b/out/'");
  expect(() => inPlaceTable('athena', table, 'gs://b/out/')).toThrow('athena cannot read gs://b/out/');
});

it.each(['spark', 'databricks'] as const)('%s needs a name in front of the day', (name) => {
  const address = nightsAddress('s3://bucket/nightly/*', '2026-11-20');
  expect(() => inPlaceNights(name, assetsTable, address, 'parquet/assets/')).toThrow(
    'needs a name in front of the day',
  );
  expect(inPlaceNights('athena', assetsTable, address, 'parquet/assets/')).toContain(
    `s3://bucket/nightly/\${day}/parquet/assets/`,
  );
});

it.each(['s3://bucket', 's3://bucket/*/x=*', 'nightly', '*', 's3://b/a/**'])('%s names no nights', (pattern) => {
  expect(() => nightsAddress(pattern, '2026-11-20')).toThrow('names no nights');
});

describe('three nights, one of them unfinished', () => {
  const days = ['2026-11-20', '2026-11-21', '2026-11-22'];
  let folder: Awaited<ReturnType<typeof keptFolder>>;

  beforeAll(async () => {
    folder = await keptFolder();
    for (const [n, day] of days.entries()) {
      const out = join(folder.path, `date=${day}`);
      await exportNight({ record: firstNight, ids: assetIds.slice(0, 20 + n), out });
    }
    const last = join(folder.path, `date=${days[2] ?? ''}`);
    await rename(join(last, 'manifest.json'), join(last, 'manifest.away'));
  }, 60_000);
  afterAll(() => folder.remove());

  it.each(['athena', 'trino'] as const)('the address of %s is the folder of the files of each night', (name) => {
    const address = nightsAddress(`s3:/${folder.path}/date=*`, days[0] ?? '');
    const text = inPlaceNights(name, assetsTable, address, 'parquet/assets/');
    const [template = ''] = /'[^'\n]*\$\{day\}[^'\n]*'/.exec(text) ?? [];
    for (const day of days) {
      const place = template.slice(1, -1).replace(`\${day}`, day);
      expect(place).toBe(`s3:/${folder.path}/date=${day}/parquet/assets/`);
    }
  });

  it.each(['spark', 'databricks'] as const)('the address of %s matches the folders of each night', async (name) => {
    const address = nightsAddress(`${folder.path}/date=*`, days[0] ?? '');
    const text = inPlaceNights(name, assetsTable, address, 'parquet/assets/');
    const [, path = ''] = /\n {2}path '([^']+)'/.exec(text) ?? [];
    const found = await queryDuckdb(
      `SELECT DISTINCT regexp_extract(file, 'date=([^/]+)', 1) FROM glob('${path}/*.parquet') ORDER BY 1`,
    );
    expect(found.flat()).toEqual(days);
    expect(text).toContain(`basePath '${folder.path}'`);
  });

  it('DuckDB reads each night, and one', async () => {
    const view = nightsView('duckdb', assetsTable, nightsAddress(`${folder.path}/date=*`, ''), 'parquet/assets/');
    const counts = await queryDuckdb(`${view} SELECT day, count(*)::INT FROM assets GROUP BY day ORDER BY day`);
    expect(counts).toEqual(days.map((day, n) => [day, 20 + n]));
    const one = wholeView('duckdb', assetsTable, `${folder.path}/date=${days[0] ?? ''}/parquet/assets/`);
    expect(await queryDuckdb(`${one} SELECT count(*)::INT FROM assets`)).toEqual([[20]]);
  });

  it.skipIf(clickhouse.isMissing)('ClickHouse reads each night, and one', () => {
    clickhouse.renew();
    clickhouse.run(
      nightsView('clickhouse', assetsTable, nightsAddress(`${folder.path}/date=*`, ''), 'parquet/assets/'),
    );
    const counts = clickhouse.rows('SELECT day, toInt32(count()) FROM assets GROUP BY day ORDER BY day');
    expect(counts).toEqual(days.map((day, n) => [day, 20 + n]));
    clickhouse.run(wholeView('clickhouse', assetsTable, `${folder.path}/date=${days[0] ?? ''}/parquet/assets/`));
    expect(clickhouse.rows('SELECT toInt32(count()) FROM assets')).toEqual([[20]]);
  });
});

it('views and external tables are parsed', async () => {
  for (const table of tables) {
    const external = wholeView('bigquery', table, `gs://bucket/out/${files(table)}`);
    expect(problemOf('bigquery', external)).toBeUndefined();
    expect(await bigqueryProblem?.(external)).toBeUndefined();
  }
});
