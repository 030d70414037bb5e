import * as arrow from '@uwdata/flechette';
import type { Column, ColumnType } from '../../records/table.ts';
import { GrowingBytes } from '../growing-bytes.ts';

/** Memory that is kept from one batch to the next; what wide rows took is given back. */
const keptBytes = 32 * 1024 * 1024;

/** Where buffers begin: a decimal, the widest value, is then in its place. */
const alignment = 16;

/**
 * The message of a batch before its nodes, in words of 4 bytes: -1; bytes of what follows up to the body; and a FlatBuffer, whose offsets count from the word in
 * which they stand. https://arrow.apache.org/docs/format/Columnar.html has its schema, https://flatbuffers.dev/internals its form.
 */
const head = [
  ...[-1, 0],
  // Where the message lies; the places of its members in it, in 2 bytes each: vtable's size, table's size, version, kind, header, bytes of the body.
  ...[16, 12 | (24 << 16), 16 | (18 << 16), 4 | (8 << 16)],
  // The message: its vtable, its header, bytes of the body, and version 5 (4) of a record batch (3).
  ...[12, 36, 0, 0, 4 | (3 << 16), 0],
  // The places of a record batch's members: rows, nodes, buffers.
  ...[10 | (20 << 16), 8 | (4 << 16), 16, 0],
  // The record batch: its vtable, nodes, rows, buffers; and how many nodes there are.
  ...[16, 16, 0, 0, 0, 0],
] as const;
const metadataBytesWord = 1;
const bodyBytesWord = 8;
const rowsWord = 18;
const buffersWord = 20;
const nodeCountWord = 21;

/** Serves every file: nothing waits between writing a batch and copying it into the memory of the encoder. */
const stream = new GrowingBytes(keptBytes);

/** A batch as a stream of Arrow's IPC format. */
export class ArrowBatch {
  readonly #schema: Uint8Array;
  readonly #rows: number;
  /** Length and nulls of each column, as 64 bits each. */
  readonly #nodes: number[] = [];
  readonly #buffers: Uint8Array[] = [];

  constructor(schema: Uint8Array, rows: number) {
    this.#schema = schema;
    this.#rows = rows;
  }

  node(length: number, nulls: number): void {
    this.#nodes.push(length, 0, nulls, 0);
  }

  buffer(bytes: Uint8Array): void {
    this.#buffers.push(bytes);
  }

  /** The bytes of the stream, which last until the next batch is written. */
  bytes(): Uint8Array {
    const spans: number[] = [];
    let body = 0;
    for (const { length } of this.#buffers) {
      spans.push(body, 0, length, 0);
      body += aligned(length);
    }
    const words = Int32Array.of(...head, ...this.#nodes, 0, this.#buffers.length, ...spans);
    words[metadataBytesWord] = words.byteLength - 8;
    words[bodyBytesWord] = body;
    words[rowsWord] = this.#rows;
    words[buffersWord] = (head.length + this.#nodes.length + 1 - buffersWord) * 4;
    words[nodeCountWord] = this.#nodes.length / 4;
    stream.clear();
    stream.reserve(this.#schema.length + words.byteLength + body);
    stream.add(this.#schema);
    stream.add(new Uint8Array(words.buffer));
    for (const bytes of this.#buffers) {
      stream.add(bytes);
      stream.add(padding.subarray(0, aligned(bytes.length) - bytes.length));
    }
    return stream.bytes;
  }
}

const padding = new Uint8Array(alignment);

function aligned(bytes: number): number {
  return Math.ceil(bytes / alignment) * alignment;
}

/** The end of a stream: -1 and no bytes. */
const endBytes = 8;

/** How a stream of batches of these columns begins. */
export function schemaMessage(columns: readonly Column[]): Uint8Array {
  const fields = columns.map(arrowField);
  const schema = { version: arrow.Version.V5, endianness: arrow.Endianness.Little, fields, metadata: null };
  const message = arrow.tableToIPC(new arrow.Table(schema, []), { format: 'stream' });
  if (message === null) throw new Error('the schema was not written');
  return message.subarray(0, -endBytes);
}

/** The Arrow type of each column type; the Parquet type follows from it. */
const arrowTypes = {
  string: arrow.utf8(),
  boolean: arrow.bool(),
  int64: arrow.int64(),
  double: arrow.float64(),
  decimal: arrow.decimal128(20, 0),
  json: arrow.utf8(),
  timestamp: arrow.timestamp(arrow.TimeUnit.MICROSECOND, 'UTC'),
} as const satisfies Record<ColumnType, unknown>;

/** A column with its field id, where Apache's encoder takes that of Parquet from. Columns that are of no table have none. */
function arrowField({ name, type, nullable, fieldId }: Column): ReturnType<typeof arrow.field> {
  const metadata = fieldId === undefined ? undefined : new Map([['PARQUET:field_id', String(fieldId)]]);
  return arrow.field(name, arrowTypes[type], nullable, metadata);
}
