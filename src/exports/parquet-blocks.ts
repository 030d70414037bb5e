import * as arrow from '@uwdata/flechette';
import { ParquetFile, type RecordBatch } from 'parquet-wasm';
import { MadeText } from '../core/records/texts.ts';
import { marksOf, type RowBlock, RowBlockBuilder } from '../core/records/row-block.ts';
import type { Column } from '../core/records/table.ts';
import type { rangesOf } from '../places/export/part-bytes.ts';
import type { RowLayout } from './row-readers.ts';

/** Rows of a block: few, so that memory holds little besides the row group as it lies in the file. */
const batchRows = 2048;

const twoTo32 = 2 ** 32;

/** Texts that every block begins its made bytes with. */
const constants = Buffer.from('truefalse');
const trueAt = ~0;
const falseAt = ~4;

type Values = ArrayLike<unknown> & ArrayBufferView;

/**
 * Reads a Parquet file of this program by Apache's decoder: texts stay where they were decoded.
 */
export async function* parquetBlocks(
  { byteLength, slice }: ReturnType<typeof rangesOf>,
  { columns, names }: Pick<RowLayout, 'columns' | 'names'>,
): AsyncGenerator<RowBlock, void, void> {
  // The decoder takes ranges of a blob, and needs no more of it than these members.
  const ranges = {
    size: byteLength,
    slice: (start: number, end: number) => ({ size: end - start, arrayBuffer: () => slice(start, end) }),
  };
  const file = await ParquetFile.fromFile(ranges as unknown as Blob);
  try {
    const wanted = names.filter((name) => name !== undefined);
    const batches = (await file.stream({ batchSize: batchRows, columns: wanted })) as ReadableStream<RecordBatch>;
    const builder = new RowBlockBuilder(columns.length, batchRows, new MadeText(constants));
    for await (const batch of batches) yield blockOf(batch, builder, { columns, names });
  } finally {
    file.free();
  }
}

function blockOf(
  recordBatch: RecordBatch,
  builder: RowBlockBuilder,
  { columns, names }: Pick<RowLayout, 'columns' | 'names'>,
): RowBlock {
  // A table without columns does not know its rows.
  const { numRows } = recordBatch;
  const ipc = recordBatch.intoIPCStream();
  const table = arrow.tableFromIPC(ipc);
  builder.cutTo(0);
  for (let row = 0; row < numRows; row += 1) builder.addRow();
  for (const [place, column] of columns.entries()) {
    const name = names[place];
    let row = 0;
    for (const batch of name === undefined ? [] : table.getChild(name).data) {
      const first = row * columns.length + place;
      if (isText(column.type)) addTexts(builder, ipc, first, batch);
      else addValues(builder, column.type, first, batch);
      row += batch.length;
    }
  }
  return builder.block(ipc);
}

function isText(type: Column['type']): type is 'string' | 'json' {
  return type === 'string' || type === 'json';
}

/** A bit a cell. */
function isSet(bits: Uint8Array, place: number): boolean {
  return ((bits[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
}

/** Sets the cells of a column from `first` on: the texts stay where they are in `ipc`. */
function addTexts(builder: RowBlockBuilder, ipc: Uint8Array, first: number, batch: arrow.Batch<unknown>): void {
  const { length, nullCount, validity, offsets } = batch;
  const textsAt = (batch.values as Values).byteOffset - ipc.byteOffset;
  const { width } = builder;
  for (let place = 0, cell = first; place < length; place += 1, cell += width) {
    if (nullCount > 0 && !isSet(validity, place)) continue;
    const start = textsAt + Number(offsets[place] ?? 0);
    const end = textsAt + Number(offsets[place + 1] ?? 0);
    builder.setSpan(cell, start, end - start);
    builder.marks[cell] = marksOf(ipc, start, end);
  }
}

function addValues(
  builder: RowBlockBuilder,
  type: Exclude<Column['type'], 'string' | 'json'>,
  first: number,
  batch: arrow.Batch<unknown>,
): void {
  const { length, nullCount, validity } = batch;
  const values = batch.values as Values;
  const valueBytes = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const { width } = builder;
  for (let place = 0, cell = first; place < length; place += 1, cell += width) {
    if (nullCount > 0 && !isSet(validity, place)) continue;
    switch (type) {
      case 'boolean': {
        const isTrue = (valueBytes.getUint8(place >> 3) & (1 << (place & 7))) !== 0;
        builder.setSpan(cell, isTrue ? trueAt : falseAt, isTrue ? 4 : 5);
        break;
      }
      case 'double':
        builder.setCell(cell, valueBytes.getFloat64(place * 8, true), type);
        break;
      case 'int64':
      case 'timestamp':
        builder.setText(cell, integerText(valueBytes, place * 8, 2), false);
        break;
      case 'decimal':
        builder.setText(cell, integerText(valueBytes, place * 16, 4), false);
    }
  }
}

/** The digits of two's complement in so many words of 32 bits, the lowest first. */
function integerText(bytes: DataView, at: number, words: 2 | 4): string {
  const low = bytes.getUint32(at, true);
  const high = bytes.getInt32(at + 4, true);
  const isShort = words === 2 || (bytes.getInt32(at + 8, true) === 0 && bytes.getInt32(at + 12, true) === 0);
  const value = high * twoTo32 + low;
  if (isShort && (words === 2 || high >= 0) && Number.isSafeInteger(value)) return String(value);
  let all = 0n;
  for (let word = words - 1; word >= 0; word -= 1) all = (all << 32n) | BigInt(bytes.getUint32(at + word * 4, true));
  return String(BigInt.asIntN(words * 32, all));
}
