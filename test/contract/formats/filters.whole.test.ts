import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Cell, Column, Row } from '../../../src/core/records/table.ts';
import { sqlName, sqlText } from '../../support/query-duckdb.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { encodeFile } from './encoded-file.ts';
import { hostileCells, hostileTable } from './hostile-rows.ts';
import { sampled } from '../../model/support/sample.ts';

/** Two row groups and, in the first of them, several pages a column. */
const rowCount = 36_000;

/** Values that hardly repeat where row groups or pages could be told apart by them. */
const filler: Readonly<Record<Column['type'], (n: number) => Cell>> = {
  string: (n) => `m${n % 5}`,
  boolean: (n) => (n > 1000 ? true : null),
  int64: (n) => n % 9,
  double: (n) => (n % 9) / 4,
  decimal: (n) => 5 + (n % 9),
  json: (n) => `[${n % 5}]`,
  timestamp: (n) => n,
};

const sqlTypes: Readonly<Record<Column['type'], string>> = {
  string: 'VARCHAR',
  boolean: 'BOOLEAN',
  int64: 'BIGINT',
  double: 'DOUBLE',
  decimal: 'DECIMAL(20,0)',
  timestamp: 'TIMESTAMPTZ',
  json: 'VARCHAR',
};

/** Each hostile value stands in one row, far from the others. */
function rowsWithNeedles(columns: readonly Column[]): Row[] {
  const rows = Array.from({ length: rowCount }, (_, n) =>
    columns.map(({ name, type }) => (name === 'id' ? `id ${n}` : name.startsWith('empty_') ? null : filler[type](n))),
  );
  for (const [index, { name, type }] of columns.entries()) {
    if (!name.startsWith('a_')) continue;
    for (const [turn, cell] of hostileCells[type].entries()) {
      const row = rows[(turn * 5077 + index * 331) % rowCount];
      if (row !== undefined) row[index] = cell;
    }
  }
  return rows;
}

/** A string cell as the file has it: its lone surrogates are gone. */
function stored(cell: Cell): Cell {
  return typeof cell === 'string' ? cell.replaceAll(/\p{Cs}/gu, '\ufffd') : cell;
}

/** Numbers come as text: DuckDB reads 0.03 as a decimal, and not every double is one. */
function sqlLiteral(cell: Cell, { type }: Column): string {
  if (type === 'timestamp') return `make_timestamptz(${String(cell)})`;
  const texts = String(cell).split('\0').map(sqlText);
  return `(${texts.join(' || chr(0) || ')})::${sqlTypes[type]}`;
}

const columns = hostileTable.columns;
const rows = rowsWithNeedles(columns);
const filtered = columns.filter(({ name }) => name.startsWith('a_'));
const valuesOf = ({ type }: Column): readonly Cell[] => [
  ...new Set([...hostileCells[type], filler[type](1), filler[type](2000)].map(stored)),
];

/** `=` means the same in SQL and JavaScript: 0 and -0 are one value. */
function countOf(column: Column, value: Cell): number {
  const index = columns.indexOf(column);
  return rows.filter((row) => stored(row[index] ?? null) === value).length;
}

// Promise, Nothing misread: A filter on any value finds its rows, statistics included (sampled)
describe('a filter on a value finds its rows', () => {
  let bytes: Buffer;
  beforeAll(async () => {
    bytes = (await encodeFile('parquet', rows, { columns })).bytes;
  });

  it('in a file of several row groups, with statistics of every column in each', () => {
    const metadata = parquetMetadata(new Uint8Array(bytes).buffer);
    expect(metadata.row_groups.map(({ num_rows }) => Number(num_rows))).toEqual([32_768, rowCount - 32_768]);
    for (const group of metadata.row_groups) {
      for (const [index, { meta_data: data }] of group.columns.entries()) {
        const column = columns[index];
        const statistics = data?.statistics;
        expect(statistics?.null_count, column?.name).toBeDefined();
        if (column?.name.startsWith('empty_') === true) continue;
        expect(statistics?.min_value, column?.name).toBeDefined();
        expect(statistics?.max_value, column?.name).toBeDefined();
      }
    }
  });

  it.each(sampled(filtered, 4).map((column) => [column.name, column] as const))(
    'in DuckDB: %s',
    async (name, column) => {
      const file = join(await tempFolder(), 'rows.parquet');
      await writeFile(file, bytes);
      const instance = await DuckDBInstance.create(':memory:', { threads: '1' });
      const connection = await instance.connect();
      for (const value of valuesOf(column).filter((cell) => cell !== null)) {
        const counted = await connection.runAndReadAll(
          `SELECT count(*) FROM read_parquet(${sqlText(file)}) WHERE ${sqlName(name)} = ${sqlLiteral(value, column)}`,
        );
        expect(Number(counted.getRows()[0]?.[0]), String(value).slice(0, 40)).toBe(countOf(column, value));
      }
      connection.closeSync();
      instance.closeSync();
    },
  );

  // Hyparquet makes doubles of decimals, milliseconds of timestamps, and cuts byte order marks, so such values are DuckDB's to find.
  it.each(
    sampled(filtered, 4)
      .filter(({ type }) => type !== 'decimal' && type !== 'timestamp')
      .map((column) => [column.name, column] as const),
  )('in hyparquet, which skips row groups and pages: %s', async (name, column) => {
    const file = new Uint8Array(bytes).buffer;
    for (const value of valuesOf(column)) {
      if (value === null || String(value).startsWith('\ufeff')) continue;
      const wanted = column.type === 'int64' ? BigInt(String(value)) : value;
      const found = await parquetReadObjects({
        file,
        compressors,
        columns: [name],
        filter: { [name]: { $eq: wanted } },
        usePageIndex: true,
      });
      expect(found.length, String(value).slice(0, 40)).toBe(countOf(column, value));
    }
  });
});
