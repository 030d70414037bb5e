import { createRequire } from 'node:module';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assetsTable } from '../../../src/core/records/columns.ts';
import type { Row } from '../../../src/core/records/table.ts';
import { anyRows } from './any-rows.ts';
import { encodeFile } from './encoded-file.ts';

/** What is used of parquetjs-lite, which has no types. */
interface ParquetReader {
  getCursor(): { next(): Promise<Record<string, unknown> | null> };
  close(): Promise<void>;
}
const { ParquetReader } = createRequire(import.meta.url)('parquetjs-lite') as {
  readonly ParquetReader: { openBuffer(bytes: Buffer): Promise<ParquetReader> };
};

/** It reads neither decimals nor dictionaries, and no zstd: ids are all different, and booleans have none. */
const columns = assetsTable.columns.filter(({ name, type }) => name === 'id' || type === 'boolean');

async function readByParquetjs(bytes: Buffer): Promise<Row[]> {
  const reader = await ParquetReader.openBuffer(bytes);
  try {
    const rows: Row[] = [];
    const cursor = reader.getCursor();
    for (let row = await cursor.next(); row !== null; row = await cursor.next()) {
      const cells = row;
      rows.push(columns.map(({ name }) => (cells[name] ?? null) as Row[number]));
    }
    return rows;
  } finally {
    await reader.close();
  }
}

describe('Parquet is read by a library that shares no code with ours', () => {
  it.each(['none', 'snappy', 'gzip'] as const)('cell by cell, with %s', async (compression) => {
    expect(columns.length).toBeGreaterThan(5);
    await fc.assert(
      fc.asyncProperty(anyRows(columns, 40), async (drawn) => {
        const rows = drawn.map((row, index) => [`id-${index}`, ...row.slice(1)]);
        fc.pre(rows.length > 0);
        const { bytes } = await encodeFile('parquet', rows, { columns, compression });
        expect(await readByParquetjs(bytes)).toEqual(rows);
      }),
      { seed: 5, numRuns: 20 },
    );
  });
});
