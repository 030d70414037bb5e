import type { RowBlock } from '../../records/row-block.ts';
import type { Column } from '../../records/table.ts';
import { requireCells } from '../block-text.ts';
import { ArrowBatch, schemaMessage } from './arrow-message.ts';
import { ArrowRows } from './arrow-rows.ts';
import { ParquetStream } from './parquet-stream.ts';
import {
  blockBytes,
  type ByteOutput,
  type EncoderNotes,
  type EncoderOptions,
  extensions,
  type RowEncoder,
  type Sink,
} from '../sink.ts';

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
