import { type RowBlock, textMarks, textOfCell } from '../../records/row-block.ts';
import type { Column, ColumnType } from '../../records/table.ts';
import type { Kernel } from '../../../lib/kernel/kernel.ts';
import {
  booleanCare,
  columnBaseWord,
  columnBytesWord,
  columnNullsWord,
  columnStartWord,
  columnWords,
  decimalCare,
  doubleCare,
  int64Care,
  jsonCare,
  laidColumnsSlot,
  neededSlot,
  replacedSlot,
  rowsWrittenSlot,
  shiftSlot,
  stringCare,
  writtenSlot,
} from '../../../lib/kernel/slots.ts';
import { loadRows } from '../kernel-lines.ts';

const cares = {
  string: stringCare,
  json: jsonCare,
  timestamp: int64Care,
  boolean: booleanCare,
  int64: int64Care,
  double: doubleCare,
  decimal: decimalCare,
} as const satisfies Record<ColumnType, number>;

/** What is laid out of a column. */
export function careOf({ type }: Column): number {
  return cares[type];
}

/** Bits a row in the values of each column; 0 for texts. */
export function valueBits(care: number): number {
  if (care === booleanCare) return 1;
  if (care === decimalCare) return 128;
  return care === int64Care || care === doubleCare ? 64 : 0;
}

export function isTextCare(care: number): boolean {
  return care === stringCare || care === jsonCare;
}

/** The rows of a batch to be laid out next. */
export interface BatchRows {
  /** The first row of the block, and how many may follow; and bytes of text from which on no further row begins. */
  readonly first: number;
  readonly most: number;
  readonly stop: number;
  /** Rows that the batch has already, and bytes of texts that it has in each column. */
  readonly before: number;
  readonly bases: readonly number[];
  /** Bytes of the kernel's memory for what is laid out, before it says how many it takes. */
  readonly room?: number;
}

/** Cells of a column as Arrow has them. The first byte of bits begins with those of rows before, as zeros. */
export interface LaidColumn {
  readonly nulls: number;
  readonly validity: Uint8Array;
  /** Of texts: where each ends, 4 bytes each. */
  readonly ends: Uint8Array;
  readonly values: Uint8Array;
}

export interface LaidRows {
  readonly rows: number;
  /** Bytes of their text, or a few more. */
  readonly bytes: number;
  /** String cells whose lone surrogates became U+FFFD. */
  readonly replaced: number;
  readonly columns: readonly LaidColumn[];
}

/** Room for what is laid out at a time, unless that is more: memory that is not written costs nothing. */
const usualRoom = 4 << 20;

/** Has the kernel lay out rows. What it gives lies in its memory. @throws {RangeError} when there is no such memory */
export function kernelRows(
  kernel: Kernel,
  block: RowBlock,
  columnCares: readonly number[],
  batch: BatchRows,
): LaidRows {
  const { first, most, stop, before, bases } = batch;
  for (let room = batch.room ?? usualRoom; ; room = kernel.slot(neededSlot)) {
    const options = { first, rows: most, cares: columnCares, stop, room, more: [bases.length * columnWords * 4] };
    const [laid = 0] = loadRows(kernel, block, options);
    for (const [index, base] of bases.entries())
      kernel.words[(laid >> 2) + index * columnWords + columnBaseWord] = base;
    kernel.setSlots([laidColumnsSlot, laid, shiftSlot, before & 7]);
    kernel.run.layOutColumns();
    if (kernel.slot(neededSlot) > room) continue;
    const rows = kernel.slot(rowsWrittenSlot);
    const columns = columnCares.map((care, index) =>
      laidColumn(kernel, care, laid + index * columnWords * 4, { before, rows }),
    );
    return { rows, bytes: kernel.slot(writtenSlot), replaced: kernel.slot(replacedSlot), columns };
  }
}

function laidColumn(
  kernel: Kernel,
  care: number,
  laid: number,
  { before, rows }: { before: number; rows: number },
): LaidColumn {
  const { bytes, words } = kernel;
  const word = (number: number): number => words[(laid >> 2) + number] ?? 0;
  const bits = bitBytes(before, rows);
  const start = word(columnStartWord);
  const ends = start + wholeBlocks(bits);
  const values = ends + (isTextCare(care) ? wholeBlocks(rows * 4) : 0);
  return {
    nulls: word(columnNullsWord),
    validity: bytes.subarray(start, start + bits),
    ends: bytes.subarray(ends, ends + (isTextCare(care) ? rows * 4 : 0)),
    values: bytes.subarray(
      values,
      values + (isTextCare(care) ? word(columnBytesWord) : valueBytes(care, before, rows)),
    ),
  };
}

function wholeBlocks(bytes: number): number {
  return (bytes + 15) & ~15;
}

function bitBytes(before: number, rows: number): number {
  return ((before & 7) + rows + 7) >> 3;
}

function valueBytes(care: number, before: number, rows: number): number {
  return care === booleanCare ? bitBytes(before, rows) : (rows * valueBits(care)) >> 3;
}

// The long way.

/** The same, a cell at a time. */
export function longRows(block: RowBlock, columnCares: readonly number[], batch: BatchRows): LaidRows {
  const { first, most, stop, before, bases } = batch;
  const { width, length, marks } = block;
  let bytes = 0;
  let rows = 0;
  for (; rows < most && bytes < stop; rows += 1) {
    const base = (first + rows) * width;
    for (let cell = base; cell < base + width; cell += 1) bytes += 1 + (length[cell] ?? -1);
  }
  let replaced = 0;
  const columns = columnCares.map((care, index) => {
    const cells = Array.from({ length: rows }, (_, row) => (first + row) * width + index);
    if (care === stringCare) {
      for (const cell of cells)
        if ((length[cell] ?? -1) > 0 && ((marks[cell] ?? 0) & textMarks.replaced) !== 0) replaced += 1;
    }
    return longColumn(
      care,
      cells.map((cell) => textOfCell(block, cell)),
      before & 7,
      bases[index] ?? 0,
    );
  });
  return { rows, bytes, replaced, columns };
}

function longColumn(care: number, texts: readonly (string | null)[], shift: number, base: number): LaidColumn {
  const ends = new Int32Array(isTextCare(care) ? texts.length : 0);
  let end = base;
  for (let row = 0; row < ends.length; row += 1) ends[row] = end += Buffer.byteLength(texts[row] ?? '');
  return {
    nulls: texts.filter((text) => text === null).length,
    validity: bitsOf(texts, shift, (text) => text !== null),
    ends: new Uint8Array(ends.buffer),
    values: longValues(care, texts, shift),
  };
}

function longValues(care: number, texts: readonly (string | null)[], shift: number): Uint8Array {
  const integers = () => texts.map((text) => BigInt(text ?? 0));
  switch (care) {
    case booleanCare:
      return bitsOf(texts, shift, (text) => text === 'true');
    case doubleCare:
      return new Uint8Array(Float64Array.from(texts, (text) => Number(text ?? 0)).buffer);
    case int64Care:
      return new Uint8Array(BigInt64Array.from(integers()).buffer);
    case decimalCare:
      return new Uint8Array(BigInt64Array.from(integers().flatMap((value) => [value, value >> 64n])).buffer);
    default:
      return isTextCare(care) ? new TextEncoder().encode(texts.join('')) : new Uint8Array(0);
  }
}

function bitsOf(texts: readonly (string | null)[], shift: number, isSet: (text: string | null) => boolean): Uint8Array {
  const bits = new Uint8Array(bitBytes(shift, texts.length));
  for (const [row, text] of texts.entries()) {
    const place = shift + row;
    if (isSet(text)) bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
  }
  return bits;
}
