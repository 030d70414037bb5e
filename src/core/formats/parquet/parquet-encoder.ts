import * as arrow from '@uwdata/flechette';
import type { RowBlock } from '../../records/row-block.ts';
import type { Column } from '../../records/table.ts';
import type { ArrowCells, RowRange } from './arrow-cells.ts';
import { plainCells } from './arrow-column.ts';
import { ListCells } from './arrow-list.ts';
import { newEncoding } from '../../records/encoding.ts';
import { arrowField, numberedField } from './arrow-type.ts';
import { BlockText } from '../block-text.ts';
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
  format: 'parquet',
  extension: extensions.parquet,
  compressesInside: true,
  blockBytes,
  open: async (output, options) => new ParquetEncoder(output, options),
};

/** Rows that go to the encoder at a time: few, so that the event loop is free again within some 50 ms. */
const batchRows = 4096;

/** A batch of wide rows is cut here, so that memory stays bounded. */
const batchBytes = 8 * 1024 * 1024;

/** Cells of files that have ended well, by the columns of their table: the next file fills the same memory, some megabytes. */
const spareCells = new WeakMap<readonly Column[], (readonly ArrowCells[])[]>();

/**
 * Gathers rows into batches and gives each to the encoder as it is full. Where batches are cut depends on the rows alone, not
 * on how they arrive, and so do the bytes of the file.
 */
export class ParquetEncoder implements RowEncoder {
  readonly #schema: arrow.Table['schema'];
  readonly #columns: readonly ArrowCells[];
  readonly #spare: (readonly ArrowCells[])[];
  readonly #types: readonly arrow.DataType[];
  readonly #stream: ParquetStream;
  #waitingRows = 0;
  #waitingBytes = 0;

  constructor(output: ByteOutput, options: EncoderOptions) {
    const { columns, encoding = newEncoding } = options;
    const fields = columns.map(encoding === 1 ? arrowField : numberedField);
    this.#schema = { version: arrow.Version.V5, endianness: arrow.Endianness.Little, fields, metadata: null };
    this.#types = fields.map(({ type }) => type);
    this.#spare = spareOf(options.columns);
    this.#columns = this.#spare.pop() ?? options.columns.map(arrowCells);
    this.#stream = new ParquetStream(output, options);
  }

  async write(block: RowBlock): Promise<void> {
    const text = new BlockText(block, this.#columns.length);
    for (let first = 0; first < text.rows; ) {
      const end = this.#batchEnd(text, first);
      this.#add(text, { first, end });
      first = end;
      if (this.#isFull) await this.#encode();
    }
  }

  async end(): Promise<EncoderNotes> {
    // A batch of no rows carries the schema into a file of no rows.
    await this.#encode();
    await this.#stream.end();
    const replacedSurrogates = this.#columns.reduce((sum, column) => sum + column.takeReplaced(), 0);
    this.#spare.push(this.#columns);
    return { formulaCells: 0, replacedSurrogates };
  }

  get #isFull(): boolean {
    return this.#waitingRows >= batchRows || this.#waitingBytes >= batchBytes;
  }

  /** Counts rows from `first` on until the batch is full or the block ends, and says where. */
  #batchEnd(text: BlockText, first: number): number {
    let end = first;
    while (end < text.rows && !this.#isFull) {
      this.#waitingBytes += text.rowBytes(end);
      this.#waitingRows += 1;
      end += 1;
    }
    return end;
  }

  /** A column at a time: its memory is at hand, and its code hot. */
  #add(text: BlockText, rows: RowRange): void {
    for (const [index, column] of this.#columns.entries()) column.add(text, index, rows);
  }

  async #encode(): Promise<void> {
    const columns = this.#columns.map((cells, index) => {
      return new arrow.Column([cells.batch()], this.#types[index]);
    });
    const rows = this.#waitingRows;
    this.#waitingRows = 0;
    this.#waitingBytes = 0;
    await this.#stream.write(new arrow.Table(this.#schema, columns), rows);
    for (const column of this.#columns) column.clear();
  }
}

function spareOf(columns: readonly Column[]): (readonly ArrowCells[])[] {
  const spare = spareCells.get(columns) ?? [];
  spareCells.set(columns, spare);
  return spare;
}

function arrowCells(column: Column): ArrowCells {
  return column.elements === undefined ? plainCells(column, batchRows) : new ListCells(column, batchRows);
}
