import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Row, Table } from '../../../src/assets/table.ts';
import { sinkFor } from '../../../src/sinks/registry.ts';
import { readTableFile, type TableFormat, type TextRow } from '../../support/read-table.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { anyRows } from './any-rows.ts';
import { encodeFile } from './encoded-file.ts';
import { hostileRows, hostileTable } from './hostile-rows.ts';
import { expectedRows, readWithCsvParse, readWithHyparquet, readWithLosslessJson } from './read-back.ts';

const tableFormats: readonly TableFormat[] = ['parquet', 'csv', 'jsonl'];

async function readWithDuckdb(bytes: Buffer, format: TableFormat, table: Table): Promise<TextRow[]> {
  const file = join(await tempFolder(), `rows.${sinkFor(format).extension}`);
  await writeFile(file, bytes);
  return readTableFile(file, format, table);
}

async function readWithSecondReader(bytes: Buffer, format: TableFormat, { columns }: Table): Promise<TextRow[]> {
  if (format === 'parquet') return readWithHyparquet(bytes, columns);
  return format === 'csv' ? readWithCsvParse(bytes, columns) : readWithLosslessJson(bytes, columns);
}

const nullRow: Row = hostileTable.columns.map(({ nullable }) => (nullable ? null : 'only'));

const tables: readonly (readonly [string, readonly Row[]])[] = [
  ['no rows', []],
  ['one row', hostileRows(hostileTable.columns, 1)],
  ['one row of nulls', [nullRow]],
  ['a thousand rows of nulls', Array.from({ length: 1000 }, () => nullRow)],
  ['hostile rows', hostileRows(hostileTable.columns)],
  [
    'more rows than a batch',
    hostileRows(hostileTable.columns, 55)
      .flatMap((row) => Array.from({ length: 40 }, () => row))
      .filter((row) => row.every((cell) => String(cell).length < 1000)),
  ],
];

describe.each(tableFormats)('%s', (format) => {
  const { columns } = hostileTable;

  it.each(tables)('gives back %s to DuckDB and to another reader', async (_, rows) => {
    const { bytes } = await encodeFile(format, rows, { columns, split: [17] });
    const expected = expectedRows(columns, rows);
    expect(await readWithSecondReader(bytes, format, hostileTable)).toEqual(expected);
    expect(await readWithDuckdb(bytes, format, hostileTable)).toEqual(expected);
  });

  it('gives back any rows', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(columns, 20), async (rows) => {
        const { bytes } = await encodeFile(format, rows, { columns });
        expect(await readWithSecondReader(bytes, format, hostileTable)).toEqual(expectedRows(columns, rows));
      }),
      { seed: 4, numRuns: 150 },
    );
  });

  it('counts the cells whose lone surrogates became U+FFFD', async () => {
    const rows = hostileRows(columns);
    const lone = rows
      .flat()
      .filter(
        (cell, at) =>
          typeof cell === 'string' && columns[at % columns.length]?.type === 'string' && /\p{Cs}/u.test(cell),
      );
    expect(lone.length).toBeGreaterThan(4);
    expect((await encodeFile(format, rows, { columns })).notes.replacedSurrogates).toBe(lone.length);
  });
});

describe('parquet', () => {
  it.each(['none', 'snappy', 'gzip', 'zstd'] as const)('is read back with the codec %s', async (compression) => {
    const rows = hostileRows(hostileTable.columns);
    const { bytes } = await encodeFile('parquet', rows, { columns: hostileTable.columns, compression });
    const expected = expectedRows(hostileTable.columns, rows);
    expect(await readWithSecondReader(bytes, 'parquet', hostileTable)).toEqual(expected);
    expect(await readWithDuckdb(bytes, 'parquet', hostileTable)).toEqual(expected);
  });
});
