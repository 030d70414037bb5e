import { DuckDBInstance } from '@duckdb/node-api';
import { icebergRead } from 'icebird';
import { sqlText } from '../../../support/query-duckdb.ts';

/** icebird finds the columns of a file by the names of the newest schema, so it has only nulls where an earlier night named them otherwise. */
const renamed = ['burnt', 'gone'];

/** All cells of a table as icebird reads them, a row each, in an order that does not depend on the reader. */
export async function cellsInIcebird(tableUrl: string): Promise<string[]> {
  return asCells(await icebergRead({ tableUrl }));
}

/** All cells of Parquet files as DuckDB reads them, as `cellsInIcebird` has them. */
export async function cellsOfParquet(patterns: readonly string[]): Promise<string[]> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
  try {
    const connection = await instance.connect();
    const files = `[${patterns.map(sqlText).join()}], union_by_name = true, hive_partitioning = false`;
    const read = await connection.runAndReadAll(`SELECT * FROM read_parquet(${files})`);
    connection.closeSync();
    return asCells(read.getRowObjectsJS());
  } finally {
    instance.closeSync();
  }
}

function asCells(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  // Of `changes` alone icebird reads files of several nights.
  const left = new Set(rows.some((row) => 'changed_at' in row) ? renamed : []);
  return rows
    .map((row) =>
      Object.keys(row)
        .filter((name) => !left.has(name))
        .sort()
        .map((name) => `${name} ${JSON.stringify(row[name] ?? null, wholeNumbersAsTexts)}`)
        .join('\n'),
    )
    .sort();
}

function wholeNumbersAsTexts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
