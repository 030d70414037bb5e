import * as arrow from '@uwdata/flechette';
import { expect, it } from 'vitest';
import { ParquetStream } from '../../../../src/core/formats/parquet/parquet-encoder.ts';

const threeRows = streamOf(arrow.tableFromArrays({ n: [1, 2, 3] }, { types: { n: arrow.int64() } }));
const options = {
  columns: [{ name: 'n', type: 'int64', nullable: true, path: [], about: '' }],
  compression: 'none',
  escapeFormulas: false,
} as const;

it('says when rows are missing from the file: the encoder keeps its errors to itself', async () => {
  const stream = new ParquetStream({ write: () => Promise.resolve() }, options);
  await stream.write(threeRows, 4);
  await expect(stream.end()).rejects.toThrow('3 of 4 rows');
});

it('leaves nothing of a batch that failed to the next', async () => {
  const broken = new arrow.Batch<unknown>({
    length: 2,
    nullCount: 0,
    type: arrow.utf8(),
    validity: new Uint8Array(0),
    offsets: Int32Array.of(0, 9, 3),
    values: new Uint8Array(3),
  });
  const schema = {
    version: arrow.Version.V5,
    endianness: arrow.Endianness.Little,
    fields: [arrow.field('n', arrow.utf8())],
    metadata: null,
  };
  const unreadable = new arrow.Table(schema, [new arrow.Column([broken], arrow.utf8())]);
  const failing = new ParquetStream({ write: () => Promise.resolve() }, options);
  await expect(failing.write(streamOf(unreadable), 2)).rejects.toThrow();
  const stream = new ParquetStream({ write: () => Promise.resolve() }, options);
  await stream.write(threeRows, 3);
  await expect(stream.end()).resolves.toBeUndefined();
});

it('ends when all are there', async () => {
  const stream = new ParquetStream({ write: () => Promise.resolve() }, options);
  await stream.write(threeRows, 3);
  await stream.write(threeRows, 3);
  await expect(stream.end()).resolves.toBeUndefined();
});

function streamOf(table: arrow.Table): Uint8Array {
  const bytes = arrow.tableToIPC(table, { format: 'stream' });
  if (bytes === null) throw new Error('no stream was written');
  return bytes;
}
