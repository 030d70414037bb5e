import type { RowBlock } from '../records/row-block.ts';
import { type Words, wordsOfBytes } from './words.ts';

/** Where the text of a block's cells lies, by the number of the cell. */
export class BlockText {
  readonly rows: number;
  readonly width: number;
  readonly marks: Uint8Array;
  /** Bytes of each cell's text; -1 for null. */
  readonly length: Int32Array;
  readonly #from: Int32Array;
  readonly #source: Words;
  readonly #made: Words;

  constructor(block: RowBlock, width: number) {
    requireCells(block, width);
    this.rows = block.rows;
    this.width = width;
    this.marks = block.marks;
    this.length = block.length;
    this.#from = block.from;
    this.#source = wordsOfBytes(block.source);
    this.#made = wordsOfBytes(block.made);
  }

  /** The bytes that hold a cell's text. */
  words(cell: number): Words {
    return (this.#from[cell] ?? 0) < 0 ? this.#made : this.#source;
  }

  /** Where a cell's text begins in them. */
  start(cell: number): number {
    const from = this.#from[cell] ?? 0;
    return from < 0 ? ~from : from;
  }

  /** Bytes of a row's text, or a few more. */
  rowBytes(row: number): number {
    const { length, width } = this;
    // Nulls count as -1: looking for them would take longer.
    let bytes = width;
    for (let cell = row * width, end = cell + width; cell < end; cell += 1) bytes += length[cell] ?? 0;
    return bytes;
  }
}

/** @throws {Error} when a block is of another table, which is a bug of the caller */
export function requireCells({ width }: RowBlock, columns: number): void {
  if (width !== columns) throw new Error(`a row has ${width} cells, and the table ${columns} columns`);
}
