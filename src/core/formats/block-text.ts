import type { RowBlock } from '../records/row-block.ts';

/** Bytes, and the same bytes to be read in words. */
export interface Words {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** Bytes that are copied at a time, though fewer may count. */
export const strideBytes = 16;

/** Always a plain array: V8 reads one kind of array faster than arrays of two kinds. */
export function wordsOfBytes({ buffer, byteOffset, byteLength }: Uint8Array): Words {
  return { bytes: new Uint8Array(buffer, byteOffset, byteLength), view: new DataView(buffer, byteOffset, byteLength) };
}

/** Texts of a format, one after another, and where each begins and the last ends. */
export interface FormatTexts {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
}

export function formatTexts(texts: readonly string[]): FormatTexts {
  const starts = new Int32Array(texts.length + 1);
  for (const [index, text] of texts.entries()) starts[index + 1] = (starts[index] ?? 0) + Buffer.byteLength(text);
  return { bytes: Buffer.from(texts.join('')), starts };
}

/** Texts that are copied often: one after another, with bytes behind the last that may be copied with it. */
export interface FixedTexts {
  readonly words: Words;
  /** Where each begins, and where the last ends. */
  readonly starts: Int32Array;
}

export function fixedTexts(texts: readonly string[]): FixedTexts {
  const { bytes, starts } = formatTexts(texts);
  return { words: wordsOfBytes(Buffer.concat([bytes, Buffer.alloc(strideBytes)])), starts };
}

/** Bytes of a timestamp's text: microseconds that are a safe integer lie in years of four digits. */
export const timestampBytes = 27;

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
