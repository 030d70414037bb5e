import type { RowBlock } from '../../records/row-block.ts';
import { type Column, currentEncoding } from '../../records/table.ts';
import { requireCells, ByteBlocks } from '../growing-bytes.ts';
import { ArrowBatch, schemaMessage } from './arrow-message.ts';
import { ArrowRows } from './arrow-rows.ts';
import {
  blockBytes,
  type ByteOutput,
  type EncoderNotes,
  type EncoderOptions,
  extensions,
  type RowEncoder,
  type Sink,
} from '../sink.ts';
import { parquetMetadata } from 'hyparquet';
import {
  Compression,
  EnabledStatistics,
  type RecordBatch,
  Table,
  transformParquetStream,
  type WriterProperties,
  WriterPropertiesBuilder,
  WriterVersion,
} from 'parquet-wasm';

/** Apache Parquet by Apache's own encoder (docs/decisions/0001-parquet.md says why). */
export const parquetSink: Sink = {
  extension: extensions.parquet,
  compressesInside: true,
  blockBytes,
  open: async (output, options) => new ParquetEncoder(output, options),
};

/** Rows that go to the encoder at a time: few, so that the event loop is free again within some 50 ms. */
const batchRows = 4096;

/** A batch of wide rows is cut here, so that memory stays bounded. */
const batchBytes = 8 * 1024 * 1024;

/** Buffers of files that have ended well, by the columns of their table: the next file fills the same memory, some megabytes. */
const spareRows = new WeakMap<readonly Column[], ArrowRows[]>();

/**
 * Gathers rows into batches and gives each to the encoder as it is full. Where batches are cut depends on the rows alone, not
 * on how they arrive, and so do the bytes of the file.
 */
export class ParquetEncoder implements RowEncoder {
  readonly #schema: Uint8Array;
  readonly #width: number;
  readonly #spare: ArrowRows[];
  readonly #rows: ArrowRows;
  readonly #stream: ParquetStream;
  #waitingBytes = 0;
  #replaced = 0;

  constructor(output: ByteOutput, options: EncoderOptions) {
    const { columns } = options;
    this.#schema = schemaMessage(columns);
    this.#width = columns.length;
    this.#spare = spareOf(columns);
    this.#rows = this.#spare.pop() ?? new ArrowRows(columns);
    this.#stream = new ParquetStream(output, options);
  }

  async write(block: RowBlock): Promise<void> {
    requireCells(block, this.#width);
    for (let first = 0; first < block.rows; ) {
      const added = this.#rows.add(block, {
        first,
        most: Math.min(block.rows - first, batchRows - this.#rows.rows),
        stop: batchBytes - this.#waitingBytes,
      });
      first += added.rows;
      this.#replaced += added.replaced;
      this.#waitingBytes += added.bytes;
      if (this.#rows.rows >= batchRows || this.#waitingBytes >= batchBytes) await this.#encode();
    }
  }

  async end(): Promise<EncoderNotes> {
    // A batch of no rows carries the schema into a file of no rows.
    await this.#encode();
    await this.#stream.end();
    this.#spare.push(this.#rows);
    return { formulaCells: 0, replacedSurrogates: this.#replaced };
  }

  async #encode(): Promise<void> {
    const { rows } = this.#rows;
    const batch = new ArrowBatch(this.#schema, rows);
    this.#rows.addTo(batch);
    this.#waitingBytes = 0;
    const bytes = batch.bytes();
    this.#rows.clear();
    await this.#stream.write(bytes, rows);
  }
}

function spareOf(columns: readonly Column[]): ArrowRows[] {
  const spare = spareRows.get(columns) ?? [];
  spareRows.set(columns, spare);
  return spare;
}

const magic = Buffer.from('PAR1');

/** The batches of one file on their way through Apache's encoder, which gives a row group's bytes as it is full. */
export class ParquetStream {
  private readonly batches: WritableStreamDefaultWriter<RecordBatch>;
  private readonly done: Promise<void>;
  private failure: { readonly error: unknown } | undefined;
  private rows = 0;
  /** The last piece, which holds the whole footer. */
  private last: Uint8Array = new Uint8Array(0);

  constructor(output: ByteOutput, options: EncoderOptions) {
    // One batch at a time: `write` resolves when the encoder is ready for the next.
    const { readable, writable } = new TransformStream<RecordBatch, RecordBatch>();
    this.batches = writable.getWriter();
    this.done = this.pass(transformParquetStream(readable, parquetProperties(options)), output);
  }

  /** @param ipc a stream of Arrow's IPC format, which is copied before this waits */
  async write(ipc: Uint8Array, rows: number): Promise<void> {
    // The copies in WebAssembly memory are freed by hand; the stream takes the batches over.
    const copied = Table.fromIPCStream(ipc);
    const batches = copied.recordBatches();
    copied.free();
    for (const batch of batches) await this.batches.write(batch);
    this.rows += rows;
    await this.stopOnFailure();
  }

  /** @throws {Error} when rows are missing from the file: the encoder keeps its own errors to itself. */
  async end(): Promise<void> {
    await this.batches.close();
    await this.done;
    await this.stopOnFailure();
    const written = parquetMetadata(footerOf(this.last)).num_rows;
    if (written !== BigInt(this.rows)) throw new Error(`Parquet holds ${String(written)} of ${this.rows} rows`);
  }

  private async pass(encoded: Promise<ReadableStream>, output: ByteOutput): Promise<void> {
    const blocks = new ByteBlocks(output);
    try {
      for await (const bytes of (await encoded) as ReadableStream<Uint8Array<ArrayBuffer>>) {
        if (mayEndFile(bytes)) this.last = bytes;
        await blocks.write(bytes);
      }
      await blocks.end();
    } catch (error) {
      this.failure = { error };
    }
  }

  /** After an output has failed the batches are dropped by the encoder, which ends and frees its memory. */
  private async stopOnFailure(): Promise<void> {
    if (this.failure === undefined) return;
    await this.batches.close().catch(() => undefined);
    throw this.failure.error;
  }
}

/** A file ends with four bytes that seldom end anything else. */
function mayEndFile(bytes: Uint8Array): boolean {
  return magic.equals(bytes.subarray(-magic.length));
}

/** Metadata, its length in 4 bytes, and `PAR1`. @throws {RangeError} when the bytes are too few to end a file */
function footerOf(end: Uint8Array): ArrayBuffer {
  const length = new DataView(end.buffer, end.byteOffset, end.length).getUint32(end.length - 8, true) + 8;
  return new Uint8Array(end.subarray(end.length - length)).buffer;
}

const codecs = {
  none: Compression.UNCOMPRESSED,
  snappy: Compression.SNAPPY,
  gzip: Compression.GZIP,
  zstd: Compression.ZSTD,
} as const;

/** Rows of a row group, the unit that readers skip and share out among threads. */
const rowGroupRows = 32_768;

/** A row group of wide rows ends here, encoded: it is held in memory until it is whole. */
const rowGroupBytes = 64 * 1024 * 1024;

/** A dictionary that outgrows this is given up for the rest of the row group: its values hardly repeat. */
const dictionaryBytes = 1024 * 1024;

/** How the files of a table are encoded: fixed by its columns and codec, so that equal rows make equal bytes. */
function parquetProperties({ columns, compression }: EncoderOptions): WriterProperties {
  let builder = new WriterPropertiesBuilder()
    .setWriterVersion(WriterVersion.V1)
    .setCreatedBy(`asset-export version ${currentEncoding}`)
    .setCompression(codecs[compression])
    .setStatisticsEnabled(EnabledStatistics.Page)
    .setMaxRowGroupSize(rowGroupRows)
    .setMaxRowGroupBytes(rowGroupBytes)
    .setDictionaryEnabled(true)
    .setDictionaryPageSizeLimit(dictionaryBytes);
  for (const { name } of columns) {
    // An id stands in one row only, or in rows that follow one another: a dictionary of them is larger than what the codec leaves.
    if (name === 'id' || name === 'asset_id') builder = builder.setColumnDictionaryEnabled(name, false);
  }
  return builder.build();
}
