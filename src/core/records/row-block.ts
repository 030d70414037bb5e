import { numberText, ExactNumber, type Json, stringifyJson } from '../../lib/json/json.ts';
import type { Cell, Column, Row, ColumnType } from './table.ts';
import { utf8Text, MadeText, timestampOf } from './texts.ts';
import { backslash, carriageReturn, comma, lineFeed, quote, space } from '../../lib/ascii.ts';

/// <reference lib="es2024.string" />

/** What is known of a cell's text, so that no encoder has to look for it again. */
export const textMarks = {
  /** It holds a comma, a quote, CR or LF: RFC 4180 wants it in quotes. */
  separators: 1,
  /** Of a string: it holds a quote, a backslash or a control character, which JSON escapes. JSON text is not told so. */
  escapes: 2,
  /** It was a string with a lone surrogate, which became U+FFFD. */
  replaced: 4,
} as const;

/**
 * Rows of one table as text: cell `c` of row `r` is number `r * width + c`, and lies in the bytes of an answer or, where the
 * answer has no such text, in bytes made for it. The text of a cell, in UTF-8, by its column's type:
 * `string`: the string; `json`: JSON text on one line; `boolean`: `true` or `false`; `int64`, `decimal`: digits with a minus
 * before those below zero; `double`: JavaScript's shortest text that reads back the same; `timestamp`: microseconds as digits.
 */
export interface RowBlock {
  readonly rows: number;
  /** Cells a row. */
  readonly width: number;
  readonly source: Uint8Array;
  readonly made: Uint8Array;
  /** Where each cell's text begins in `source`; below zero: at `~from` in `made`. */
  readonly from: Int32Array;
  /** Bytes of each cell's text; -1 for null. */
  readonly length: Int32Array;
  /** `textMarks` of each cell, 0 for those that are neither string nor json. */
  readonly marks: Uint8Array;
}

const noBytes = new Uint8Array(0);
const firstCapacity = 64;

/** A block in the making. Its arrays grow; what was read from them before must be read again. Cells behind the last row are null. */
export class RowBlockBuilder {
  readonly width: number;
  rows = 0;
  from: Int32Array;
  length: Int32Array;
  marks: Uint8Array;
  /** Texts of the cells whose `from` is below zero. Builders of one answer share them. */
  readonly #made: MadeText;

  /** @param capacity rows to have room for at once */
  constructor(width: number, capacity = firstCapacity, made = new MadeText()) {
    this.width = width;
    this.#made = made;
    this.from = new Int32Array(width * capacity);
    this.length = new Int32Array(width * capacity).fill(-1);
    this.marks = new Uint8Array(width * capacity);
  }

  /** Adds a row of nulls and gives the number of its first cell. */
  addRow(): number {
    const base = this.rows * this.width;
    this.#reserve(1);
    this.rows += 1;
    return base;
  }

  /** Adds rows whose cells are known. */
  addRows(rows: number, { from, length, marks }: Pick<RowBlock, 'from' | 'length' | 'marks'>): void {
    const base = this.rows * this.width;
    this.#reserve(rows);
    this.from.set(from, base);
    this.length.set(length, base);
    this.marks.set(marks, base);
    this.rows += rows;
  }

  /** Takes rows back, down to `rows`. Text made for them stays unused. */
  cutTo(rows: number): void {
    this.length.fill(-1, rows * this.width, this.rows * this.width);
    this.rows = rows;
    if (rows === 0) this.#made.clear();
  }

  /** Has a cell hold bytes of the source; or, with `from` below zero, of the texts that were made, at `~from`. */
  setSpan(cell: number, from: number, length: number): void {
    this.from[cell] = from;
    this.length[cell] = length;
    this.marks[cell] = 0;
  }

  /** Puts text that the source does not hold into a cell. Its lone surrogates become U+FFFD. */
  setText(cell: number, text: string, isString: boolean): void {
    const from = this.#made.end;
    const length = this.#made.addText(text);
    this.from[cell] = ~from;
    this.length[cell] = length;
    this.marks[cell] =
      marksOf(this.#made.bytes, from, from + length) | (isString && !text.isWellFormed() ? textMarks.replaced : 0);
  }

  /** The text of a cell that is not null. */
  textAt(cell: number, source: Uint8Array): string {
    const from = this.from[cell] ?? 0;
    const length = this.length[cell] ?? 0;
    return from < 0 ? utf8Text(this.#made.bytes, ~from, ~from + length) : utf8Text(source, from, from + length);
  }

  /** Puts a cell into a row as its column's text. */
  setCell(cell: number, value: Exclude<Cell, null>, type: Column['type']): void {
    if (typeof value === 'string') this.setText(cell, value, type === 'string');
    else {
      this.setText(
        cell,
        typeof value === 'boolean' || typeof value === 'bigint' ? String(value) : numberText(value),
        false,
      );
    }
  }

  addCells(columns: readonly Column[], row: Row): void {
    const base = this.addRow();
    for (let index = 0; index < columns.length; index += 1) {
      const value = row[index] ?? null;
      const type = columns[index]?.type;
      if (value !== null && type !== undefined) this.setCell(base + index, value, type);
    }
  }

  /** The rows from `first` up to `end`, whose other cells lie in `source`. Views: nothing is copied. */
  block(source: Uint8Array, first = 0, end = this.rows): RowBlock {
    const { rows, width, from, length, marks } = this;
    return rowsOf({ rows, width, source, made: this.#texts, from, length, marks }, first, end);
  }

  /** The same for several ranges of rows, in their order. Copies what says where their text lies. */
  picked(source: Uint8Array, ranges: readonly (readonly [first: number, end: number])[]): RowBlock {
    const { width } = this;
    const rows = ranges.reduce((sum, [first, end]) => sum + end - first, 0);
    const from = new Int32Array(rows * width);
    const length = new Int32Array(rows * width);
    const marks = new Uint8Array(rows * width);
    let at = 0;
    for (const [first, end] of ranges) {
      from.set(this.from.subarray(first * width, end * width), at);
      length.set(this.length.subarray(first * width, end * width), at);
      marks.set(this.marks.subarray(first * width, end * width), at);
      at += (end - first) * width;
    }
    return { rows, width, source, made: this.#texts, from, length, marks };
  }

  get #texts(): Uint8Array {
    return this.#made.bytes.subarray(0, this.#made.end);
  }

  #reserve(rows: number): void {
    const needed = (this.rows + rows) * this.width;
    if (needed <= this.length.length) return;
    const size = Math.max(needed, this.length.length * 2, this.width * firstCapacity);
    const { from, length, marks } = this;
    this.from = new Int32Array(size);
    this.from.set(from);
    this.length = new Int32Array(size).fill(-1);
    this.length.set(length);
    this.marks = new Uint8Array(size);
    this.marks.set(marks);
  }
}

/** Rows of cells as a block. */
export function blockOf(columns: readonly Column[], rows: readonly Row[]): RowBlock {
  const builder = new RowBlockBuilder(columns.length, Math.max(1, rows.length));
  for (const row of rows) builder.addCells(columns, row);
  return builder.block(noBytes);
}

/** The rows of a block from `first` up to `end`. Views: nothing is copied. */
export function rowsOf(block: RowBlock, first: number, end: number): RowBlock {
  const { width } = block;
  return {
    ...block,
    rows: end - first,
    from: block.from.subarray(first * width, end * width),
    length: block.length.subarray(first * width, end * width),
    marks: block.marks.subarray(first * width, end * width),
  };
}

/** The text of a cell; null for null. */
export function textOfCell(block: RowBlock, cell: number): string | null {
  const length = block.length[cell] ?? -1;
  if (length < 0) return null;
  const from = block.from[cell] ?? 0;
  return from < 0 ? utf8Text(block.made, ~from, ~from + length) : utf8Text(block.source, from, from + length);
}

/** `textMarks` by byte. */
const marksByByte = new Uint8Array(256);
for (let byte = 0; byte < space; byte += 1) marksByByte[byte] = textMarks.escapes;
marksByByte[lineFeed] = textMarks.escapes | textMarks.separators;
marksByByte[carriageReturn] = textMarks.escapes | textMarks.separators;
marksByByte[quote] = textMarks.escapes | textMarks.separators;
marksByByte[backslash] = textMarks.escapes;
marksByByte[comma] = textMarks.separators;

/** `textMarks` of the text in `bytes` from `start` up to `end`. */
export function marksOf(bytes: Uint8Array, start: number, end: number): number {
  let marks = 0;
  for (let at = start; at < end; at += 1) marks |= marksByByte[bytes[at] ?? 0] ?? 0;
  return marks;
}

/** A cell from its text in a CSV file; null when the cell was empty without quotes. */
export function cellOfText(text: string | null, type: ColumnType): Cell {
  if (text === null) return null;
  if (type === 'boolean') return text === 'true';
  if (type === 'double') return Number(text);
  if (type === 'timestamp') return timestampOf(text);
  if (type === 'int64' || type === 'decimal') return integer(text);
  return text;
}

/** The cells of a row of a block. */
export function cellsOf(block: RowBlock, row: number, columns: readonly Column[]): Cell[] {
  return columns.map(({ type }, index) => {
    const text = textOfCell(block, row * block.width + index);
    // A block holds a time as its microseconds.
    return type === 'timestamp' && text !== null ? Number(text) : cellOfText(text, type);
  });
}

/** A cell from a member of a JSONL row. */
export function cellOfJson(value: Json | undefined, type: ColumnType): Cell {
  if (value === undefined || value === null) return null;
  if (type === 'json') return stringifyJson(value);
  if (type === 'timestamp' && typeof value === 'string') return timestampOf(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  const text = value instanceof ExactNumber ? value.text : stringifyJson(value);
  return type === 'double' ? Number(text) : integer(text);
}

function integer(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
