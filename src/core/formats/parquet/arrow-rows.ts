import type { RowBlock } from '../../records/row-block.ts';
import type { Column } from '../../records/table.ts';
import { theKernel } from '../../../lib/kernel/kernel.ts';
import { GrowingBytes } from '../growing-bytes.ts';
import {
  type BatchRows,
  careOf,
  isTextCare,
  kernelRows,
  type LaidColumn,
  type LaidRows,
  longRows,
  valueBits,
} from './arrow-columns.ts';
import type { ArrowBatch } from './arrow-message.ts';

/** Most memory that a buffer keeps from one batch to the next, and from one file to the next; what wide rows took is given back. */
const keptBytes = 4 * 1024 * 1024;

/** A block with more bytes goes the long way: the kernel would need them all, again for each batch. Answers have a few megabytes. */
const mostTexts = 32 * 1024 * 1024;

const noBytes = new Uint8Array(0);

/** Rows of a batch in the making, as Arrow lays out their columns. */
export class ArrowRows {
  rows = 0;
  readonly #columns: readonly ArrowColumn[];
  readonly #cares: readonly number[];

  constructor(columns: readonly Column[]) {
    this.#columns = columns.map((column) => new ArrowColumn(column));
    this.#cares = columns.map(careOf);
  }

  /**
   * Adds rows of a block from `first` on: `most`, or fewer where the bytes of their text come to `stop`.
   * @throws {Error} when a cell is null in a column that is never null, which is a bug of the caller
   */
  add(block: RowBlock, { first, most, stop }: Pick<BatchRows, 'first' | 'most' | 'stop'>): Omit<LaidRows, 'columns'> {
    const bases = this.#columns.map(({ textBytes }) => textBytes);
    const laid = this.#layOut(block, { first, most, stop, before: this.rows, bases });
    for (const [index, column] of this.#columns.entries()) column.add(laid.columns[index], this.rows);
    this.rows += laid.rows;
    return laid;
  }

  /** Adds the columns to a batch that is written. */
  addTo(batch: ArrowBatch): void {
    for (const column of this.#columns) column.addTo(batch, this.rows);
  }

  /** Begins another batch. */
  clear(): void {
    this.rows = 0;
    for (const column of this.#columns) column.clear();
  }

  #layOut(block: RowBlock, batch: BatchRows): LaidRows {
    const kernel = block.source.length + block.made.length > mostTexts ? undefined : theKernel();
    try {
      if (kernel !== undefined) return kernelRows(kernel, block, this.#cares, batch);
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
    return longRows(block, this.#cares, batch);
  }
}

/** The buffers of one column. */
class ArrowColumn {
  readonly #column: Column;
  readonly #care: number;
  readonly #validity = new GrowingBytes(keptBytes);
  /** Where each text begins, and where the last ends. */
  readonly #offsets = new GrowingBytes(keptBytes);
  readonly #values = new GrowingBytes(keptBytes);
  #nulls = 0;

  constructor(column: Column) {
    this.#column = column;
    this.#care = careOf(column);
    this.clear();
  }

  get textBytes(): number {
    return this.#values.used;
  }

  add(laid: LaidColumn | undefined, before: number): void {
    if (laid === undefined) return;
    const { nulls, validity, ends, values } = laid;
    if (nulls > 0 && !this.#column.nullable) throw new Error(`column ${this.#column.name} holds a null`);
    this.#nulls += nulls;
    addBits(this.#validity, validity, before);
    addBytes(this.#offsets, ends);
    if (valueBits(this.#care) === 1) addBits(this.#values, values, before);
    else addBytes(this.#values, values);
  }

  addTo(batch: ArrowBatch, rows: number): void {
    batch.node(rows, this.#nulls);
    batch.buffer(this.#nulls === 0 ? noBytes : this.#validity.bytes);
    if (isTextCare(this.#care)) batch.buffer(this.#offsets.bytes);
    batch.buffer(this.#values.bytes);
  }

  clear(): void {
    this.#nulls = 0;
    this.#validity.clear();
    this.#values.clear();
    this.#offsets.clear();
    addBytes(this.#offsets, new Uint8Array(4));
  }
}

function addBytes(to: GrowingBytes, bytes: Uint8Array): void {
  to.reserve(bytes.length);
  to.add(bytes);
}

/** Adds bits behind those of so many rows, which the first of their bytes has as zeros. */
function addBits(to: GrowingBytes, bits: Uint8Array, before: number): void {
  if ((before & 7) === 0 || bits.length === 0) {
    addBytes(to, bits);
    return;
  }
  const last = to.used - 1;
  to.put(last, (to.bytes[last] ?? 0) | (bits[0] ?? 0));
  addBytes(to, bits.subarray(1));
}
