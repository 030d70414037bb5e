import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { assetsTable, tables } from '../../../src/core/records/columns.ts';
import type { Cell, Column, Table } from '../../../src/core/records/table.ts';
import { type TableFormat, tableFormats } from '../../../src/exports/duckdb-files.ts';
import { clickhouseFiles } from '../../../src/wings/warehouse/clickhouse.ts';
import { ddlFor, loadStatementFor } from '../../../src/wings/warehouse/engines.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { clickhouseOfTests } from './engines/clickhouse-of-tests.ts';
import { rowsOf, timeRows, timesTable, writeParts } from './written-tables.ts';

const clickhouse = clickhouseOfTests('ClickHouse statements are not run');

/** Creates the table and loads its files; gives back its rows, cells as text. */
async function loaded(table: Table, format: TableFormat, rows = rowsOf(table)): Promise<Cell[][]> {
  const folder = join(await tempFolder(), `a'b\\c {x,y}#%41ü`);
  await writeParts(folder, table, format, rows);
  clickhouse.renew();
  clickhouse.run(ddlFor('clickhouse', table));
  clickhouse.run(loadStatementFor('clickhouse', { table, format, folder }));
  const selected = table.columns.map(({ name, type }) =>
    type === 'timestamp' ? `toUnixTimestamp64Micro(\`${name}\`)` : `\`${name}\``,
  );
  return clickhouse.rows(`SELECT ${selected.join(', ')} FROM \`${table.name}\``) as Cell[][];
}

function plain(value: Cell, { type }: Column, format: TableFormat): unknown {
  if (value === null) return null;
  // A text in a json column of JSONL loses its quotes: the docs say so.
  if (type === 'json' && format === 'jsonl')
    return String(value)
      .replace(/^"(.*)"$/, '$1')
      .replaceAll(/\\(.)/g, '$1');
  if (type === 'double') return Number(value);
  return type === 'boolean' ? value : String(value);
}

function shown({ columns }: Table, rows: readonly (readonly Cell[])[], format: TableFormat): string[] {
  // A table has no order of its own.
  return rows.map((row) => JSON.stringify(columns.map((column, at) => plain(row[at] ?? null, column, format)))).sort();
}

const differences = (found: readonly string[], written: readonly string[]): number => {
  expect(found.length).toBe(written.length);
  return found.filter((row, at) => row !== written[at]).length;
};

describe.skipIf(clickhouse.isMissing).each(tableFormats)('the ClickHouse statements for %s', (format) => {
  it.each(tables.map((table) => [table.name, table] as const))('load %s as it was written', async (_, table) => {
    expect(shown(table, await loaded(table, format), format)).toEqual(shown(table, rowsOf(table), format));
  });

  it('load times and blanks as they were written', async () => {
    const rows = timeRows(process.env['TEST'] === 'all' ? 100_000 : 1_000);
    const found = await loaded(timesTable, format, rows);
    expect(differences(shown(timesTable, found, format), shown(timesTable, rows, format))).toBe(0);
  });
});

it.skipIf(clickhouse.isMissing)('a table that is ordered by columns with nulls is created and loaded', async () => {
  const folder = await tempFolder();
  await writeParts(folder, assetsTable, 'parquet');
  clickhouse.renew();
  clickhouse.run(ddlFor('clickhouse', assetsTable, ['collection', 'ownership_owner']));
  clickhouse.run(loadStatementFor('clickhouse', { table: assetsTable, format: 'parquet', folder }));
  expect(clickhouse.rows('SELECT toInt32(count()) FROM assets')).toEqual([[rowsOf(assetsTable).length]]);
  expect(clickhouse.rows("SELECT sorting_key FROM system.tables WHERE database = 'tests'")).toEqual([
    ['collection, ownership_owner'],
  ]);
});

it.each([
  ['s3://b/x y/ü', 's3://b/x%20y/%C3%BC/part-*.parquet'],
  ['gs://b/p%41#v', 'gs://b/p%2541%23v/part-*.parquet'],
  // A brace is a pattern there, and cannot be escaped.
  ['s3://b/{x,y}?/q+r', 's3://b/%3Fx,y%3F%3F/q+r/part-*.parquet'],
  ['az://a/c/{x} y', '?x? y/part-*.parquet'],
])('the address %s is written as ClickHouse reads it', (folder, address) => {
  expect(clickhouseFiles(assetsTable, `${folder}/part-*.parquet`)).toContain(`'${address}'`);
});
