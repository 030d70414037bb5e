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
import { ByteBlocks } from '../byte-blocks.ts';
import { currentEncoding } from '../../records/table.ts';
import type { ByteOutput, EncoderOptions } from '../sink.ts';

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
