import * as arrow from '@uwdata/flechette';
import type { Cell, Row } from '../assets/table.ts';
import { arrowCells } from './arrow-column.ts';
import { arrowLists } from './arrow-list.ts';
import { arrowField } from './arrow-type.ts';
import { ParquetStream } from './parquet-stream.ts';
import type { ByteOutput, EncoderNotes, EncoderOptions, RowEncoder } from './sink.ts';

/** Rows that go to the encoder at a time: few, so that the event loop is free again within some 50 ms. */
const batchRows = 1024;

/** A batch of wide rows is cut here, in UTF-16 code units, so that memory stays bounded. */
const batchUnits = 8 * 1024 * 1024;

/**
 * Gathers rows into batches and gives each to the encoder as it is full. Where batches are cut depends on the rows alone, not
 * on how they arrive, and so do the bytes of the file.
 */
export class ParquetEncoder implements RowEncoder {
  private readonly options: EncoderOptions;
  private readonly schema: arrow.Table['schema'];
  private readonly stream: ParquetStream;
  private waiting: Row[] = [];
  private waitingUnits = 0;
  private replacedSurrogates = 0;

  constructor(output: ByteOutput, options: EncoderOptions) {
    this.options = options;
    this.schema = {
      version: arrow.Version.V5,
      endianness: arrow.Endianness.Little,
      fields: options.columns.map(arrowField),
      metadata: null,
    };
    this.stream = new ParquetStream(output, options);
  }

  async write(rows: readonly Row[]): Promise<void> {
    for (const row of rows) {
      this.waiting.push(row);
      for (const cell of row) if (typeof cell === 'string') this.waitingUnits += cell.length;
      if (this.waiting.length >= batchRows || this.waitingUnits >= batchUnits) await this.encode();
    }
  }

  async end(): Promise<EncoderNotes> {
    // A batch of no rows carries the schema into a file of no rows.
    await this.encode();
    await this.stream.end();
    return { formulaCells: 0, replacedSurrogates: this.replacedSurrogates };
  }

  private async encode(): Promise<void> {
    const rows = this.waiting;
    this.waiting = [];
    this.waitingUnits = 0;
    const columns = this.options.columns.map((column, index) => {
      const cells: Cell[] = rows.map((row) => row[index] ?? null);
      const laidOut = column.elements === undefined ? arrowCells(column, cells) : arrowLists(column, cells);
      this.replacedSurrogates += laidOut.replacedSurrogates;
      return laidOut.column;
    });
    await this.stream.write(new arrow.Table(this.schema, columns), rows.length);
  }
}
