import * as arrow from '@uwdata/flechette';
import { expect, it } from 'vitest';
import { ParquetStream } from '../../src/sinks/parquet-stream.ts';

const table = arrow.tableFromArrays({ n: [1, 2, 3] }, { types: { n: arrow.int64() } });
const options = {
  columns: [{ name: 'n', type: 'int64', nullable: true, path: [], about: '' }],
  compression: 'none',
  escapeFormulas: false,
} as const;

it('says when rows are missing from the file: the encoder keeps its errors to itself', async () => {
  const stream = new ParquetStream({ write: () => Promise.resolve() }, options);
  await stream.write(table, 4);
  await expect(stream.end()).rejects.toThrow('3 of 4 rows');
});

it('ends when all are there', async () => {
  const stream = new ParquetStream({ write: () => Promise.resolve() }, options);
  await stream.write(table, 3);
  await stream.write(table, 3);
  await expect(stream.end()).resolves.toBeUndefined();
});
