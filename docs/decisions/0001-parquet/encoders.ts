import { createRequire } from 'node:module';
import { Writable } from 'node:stream';
import { Zstd } from '@hpcc-js/wasm-zstd';
import type { SchemaElement } from 'hyparquet';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { blockOf } from '../../../src/core/records/row-block.ts';
import type { Cell, Column, Row } from '../../../src/core/records/table.ts';
import { sinkFor } from '../../../src/core/formats/registry.ts';

/** One way to make a Parquet file of rows, with zstd where it can. */
export type Encode = (columns: readonly Column[], rows: readonly Row[]) => Promise<Buffer>;

export const encoders: Readonly<Record<string, Encode>> = {
  'the sink (parquet-wasm)': bySink,
  'hyparquet-writer': byHyparquetWriter,
  'parquetjs-lite': byParquetjsLite,
};

/** Rows of a row group for the two that take it as an option: as in the sink. */
const rowGroupSize = 32_768;

async function bySink(columns: readonly Column[], rows: readonly Row[]): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const encoder = await (await sinkFor('parquet')).open(
    { write: async (bytes) => void pieces.push(Uint8Array.from(bytes)) },
    { columns, compression: 'zstd', escapeFormulas: false },
  );
  for (let start = 0; start < rows.length; start += 1000) {
    await encoder.write(blockOf(columns, rows.slice(start, start + 1000)));
  }
  await encoder.end();
  return Buffer.concat(pieces);
}

const hyparquetTypes: Readonly<Record<Column['type'], Partial<SchemaElement>>> = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  boolean: { type: 'BOOLEAN' },
  int64: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  decimal: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 9, converted_type: 'DECIMAL', precision: 20, scale: 0 },
  timestamp: { type: 'INT64' },
  json: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
};

async function byHyparquetWriter(columns: readonly Column[], rows: readonly Row[]): Promise<Buffer> {
  const zstd = await Zstd.load();
  const writer = new ByteWriter();
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length },
    ...columns.map(({ name, type, nullable }) => ({
      ...hyparquetTypes[type],
      name,
      repetition_type: nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
    })),
  ];
  const parquet = new ParquetWriter({
    writer,
    schema,
    codec: 'ZSTD',
    compressors: { ZSTD: (bytes) => zstd.compress(bytes, 1) },
  });
  for (let start = 0; start < rows.length; start += rowGroupSize) {
    const group = rows.slice(start, start + rowGroupSize);
    const columnData = columns.map(({ name, type }, index) => ({
      name,
      data: group.map((row) => forHyparquet(row[index] ?? null, type)),
    }));
    await parquet.write({ columnData, rowGroupSize });
  }
  await parquet.finish();
  return Buffer.from(writer.getBuffer());
}

function forHyparquet(cell: Cell, type: Column['type']): Cell {
  if (cell === null) return null;
  return type === 'int64' || type === 'timestamp' || type === 'decimal' ? BigInt(String(cell)) : cell;
}

/** What is used of parquetjs-lite, which has no types. */
interface ParquetjsLite {
  readonly ParquetSchema: new (fields: Record<string, object>) => unknown;
  readonly ParquetWriter: {
    openStream(
      schema: unknown,
      output: Writable,
      options: object,
    ): Promise<{
      appendRow(row: Record<string, Cell>): Promise<void>;
      close(): Promise<void>;
    }>;
  };
}

const parquetjsTypes: Readonly<Record<Column['type'], string>> = {
  string: 'UTF8',
  boolean: 'BOOLEAN',
  int64: 'INT64',
  double: 'DOUBLE',
  // It has no decimals: their digits as text stand in.
  decimal: 'UTF8',
  timestamp: 'INT64',
  json: 'UTF8',
};

async function byParquetjsLite(columns: readonly Column[], rows: readonly Row[]): Promise<Buffer> {
  const { ParquetSchema, ParquetWriter: Lite } = createRequire(import.meta.url)('parquetjs-lite') as ParquetjsLite;
  const pieces: Buffer[] = [];
  const output = new Writable({
    write: (piece: Buffer, _, done) => {
      pieces.push(Buffer.from(piece));
      done();
    },
  });
  // Gzip is the best it has; its V1 pages are asked for, as the sink has them.
  const schema = new ParquetSchema(
    Object.fromEntries(
      columns.map(({ name, type, nullable }) => [
        name,
        { type: parquetjsTypes[type], optional: nullable, compression: 'GZIP' },
      ]),
    ),
  );
  const parquet = await Lite.openStream(schema, output, { rowGroupSize, useDataPageV2: false });
  for (const row of rows) {
    const filled = columns.flatMap(({ name, type }, index): [string, Cell][] => {
      const cell = row[index] ?? null;
      return cell === null ? [] : [[name, type === 'decimal' ? String(cell) : cell]];
    });
    await parquet.appendRow(Object.fromEntries(filled));
  }
  await parquet.close();
  return Buffer.concat(pieces);
}
