import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Column, Row, Table } from '../../../src/core/records/table.ts';
import { type Compression, extensions, formats } from '../../../src/core/formats/sink.ts';
import { readTableFile, type TableFormat, type TextRow } from '../../support/read-table.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { anyRows } from './any-rows.ts';
import { encodeFile } from './encoded-file.ts';
import { hostileRows, hostileTable } from './hostile-rows.ts';
import { expectedRows, readWithCsvParse, readWithHyparquet, readWithLosslessJson } from './read-back.ts';
import { sampled, sampledRuns } from '../../model/support/sample.ts';

type SecondReader = (bytes: Buffer, columns: readonly Column[]) => TextRow[] | Promise<TextRow[]>;

/** Beside DuckDB. */
const secondReaders: Readonly<Record<TableFormat, SecondReader>> = {
  parquet: readWithHyparquet,
  csv: readWithCsvParse,
  jsonl: readWithLosslessJson,
};

const rowFormats = formats.filter((format) => format !== 'raw');

async function readWithDuckdb(bytes: Buffer, format: TableFormat, table: Table): Promise<TextRow[]> {
  const file = join(await tempFolder(), `rows.${extensions[format]}`);
  await writeFile(file, bytes);
  return readTableFile(file, format, table);
}

async function readWithSecondReader(bytes: Buffer, format: TableFormat, { columns }: Table): Promise<TextRow[]> {
  return secondReaders[format](bytes, columns);
}

/**
 * Rows without what DuckDB cannot be asked: its Node client cuts a byte order mark off a value (filters.whole.test.ts finds that one),
 * and its JSON reader refuses a lone surrogate, which json cells keep as the service escaped it.
 */
function rowsForDuckdb(rows: readonly Row[], format: TableFormat): readonly Row[] {
  const refused = format === 'jsonl' ? /^\ufeff|\\ud[89a-f]/i : /^\ufeff/;
  return rows.filter((row) => !row.some((cell) => typeof cell === 'string' && refused.test(cell)));
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

async function expectBack(format: TableFormat, rows: readonly Row[], compression: Compression = 'none'): Promise<void> {
  const { columns } = hostileTable;
  const { bytes } = await encodeFile(format, rows, { columns, compression, split: [17] });
  expect(await readWithSecondReader(bytes, format, hostileTable)).toEqual(expectedRows(columns, rows));
  const some = rowsForDuckdb(rows, format);
  const file = await encodeFile(format, some, { columns, compression });
  expect(await readWithDuckdb(file.bytes, format, hostileTable)).toEqual(expectedRows(columns, some));
}

describe.each(rowFormats)('%s', (format) => {
  const { columns } = hostileTable;

  // Promise, Nothing misread: Every format gives two readers the same values
  it.each(tables)('gives back %s to DuckDB and to another reader', async (_, rows) => {
    await expectBack(format, rows);
  });

  it('gives back any rows', async () => {
    await fc.assert(
      fc.asyncProperty(anyRows(columns, 20), async (rows) => {
        const { bytes } = await encodeFile(format, rows, { columns });
        expect(await readWithSecondReader(bytes, format, hostileTable)).toEqual(expectedRows(columns, rows));
      }),
      { seed: 4, ...sampledRuns(160) },
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
  it.each(sampled(['none', 'snappy', 'gzip', 'zstd'] as const, 2))(
    'is read back with the codec %s',
    async (compression) => {
      const rows = hostileRows(hostileTable.columns);
      await expectBack('parquet', rows, compression);
    },
  );
});
