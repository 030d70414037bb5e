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
  outBytesSlot,
  outSlot,
  replacedSlot,
  rowCountSlot,
  rowsWrittenSlot,
  shiftSlot,
  stopBytesSlot,
  stringCare,
  writtenSlot,
} from '../src/lib/kernel/slots';
import { beginBlock, caresAt, columns, fromAt, lengthAt, marksAt, putText, sourceAt, textsAt } from './block';
import { addDigits, doubleAt, high, low } from './numbers';
import { addressSlot, byteAt, setSlot, slot } from './memory';
import { lowerT, replaced } from './tokens';

/** Rows of this call. */
let rows: i32 = 0;
/** Bits of a byte that rows before have in the first byte of validity and of booleans. */
let shift: usize = 0;
/** Bytes from a row's cell in `from` and `length` to the next row's. */
let stride: usize = 0;
/** Lengths of the cells of the column at hand, one after another. */
let cellLengths: usize = 0;
let replacements: i32 = 0;

/**
 * Lays out rows as Arrow columns, as many as a batch takes. Of each column come, each in whole blocks: validity, a bit a row; of texts where each ends; the values.
 * Where the room does not do, nothing is written, and TypeScript is told how much it takes.
 */
export function layOutColumns(): void {
  beginBlock();
  stride = (<usize>columns) << 2;
  shift = <usize>slot(shiftSlot);
  replacements = 0;
  const needed = countRows();
  setSlot(neededSlot, <i32>needed);
  if (needed > <usize>slot(outBytesSlot)) {
    setSlot(rowsWrittenSlot, 0);
    return;
  }
  cellLengths = addressSlot(outSlot);
  let out = cellLengths + wholeBlocks((<usize>rows) << 2);
  for (let column = 0; column < columns; column += 1) out = putColumn(out, column);
  setSlot(rowsWrittenSlot, rows);
  setSlot(replacedSlot, replacements);
}

/** Counts the rows until one ends the batch, and what their text is. Gives the bytes that they take at most. */
function countRows(): usize {
  const most = slot(rowCountSlot);
  const stop = slot(stopBytesSlot);
  let counted = 0;
  let texts: usize = 0;
  let at = lengthAt;
  for (rows = 0; rows < most && counted < stop; rows += 1) {
    for (const end = at + stride; at < end; at += 4) {
      const length = load<i32>(at);
      counted += length + 1;
      texts += <usize>max(0, length);
    }
  }
  setSlot(writtenSlot, counted);
  let needed = texts + wholeBlocks((<usize>rows) << 2);
  for (let column = 0; column < columns; column += 1) needed += fixedBytes(load<u8>(caresAt + column));
  return needed;
}

/** Bytes of a column without its text. Sixteen more for each of three regions: that many are written at a time, though fewer count. */
function fixedBytes(care: u32): usize {
  const perRow: usize = care == decimalCare ? 16 : care == doubleCare || care == int64Care ? 8 : isText(care) ? 4 : 0;
  return 2 * bitBytes() + wholeBlocks(<usize>rows * perRow) + 48;
}

function isText(care: u32): bool {
  return care == stringCare || care == jsonCare;
}

function wholeBlocks(bytes: usize): usize {
  return (bytes + 15) & ~15;
}

/** Bytes of a bit a row. */
function bitBytes(): usize {
  return wholeBlocks((shift + <usize>rows + 7) >> 3);
}

/** Everything that it writes was counted by `countRows`. */
function putColumn(start: usize, column: i32): usize {
  const care: u32 = load<u8>(caresAt + column);
  const laid = addressSlot(laidColumnsSlot) + <usize>column * ((<usize>columnWords) << 2);
  store<u32>(laid, <u32>start, columnStartWord << 2);
  store<i32>(laid, putValidity(start, column), columnNullsWord << 2);
  const values = start + bitBytes();
  const froms = fromAt + ((<usize>column) << 2);
  if (isText(care)) {
    const texts = values + wholeBlocks((<usize>rows) << 2);
    const end = putTexts(values, texts, froms, load<i32>(laid, columnBaseWord << 2));
    if (care == stringCare) countReplaced(marksAt + column);
    store<i32>(laid, <i32>(end - texts), columnBytesWord << 2);
    // What was written behind the last text is written over.
    return wholeBlocks(end);
  }
  if (care == booleanCare) return putBooleans(values, froms);
  if (care == int64Care) return putIntegers(values, froms);
  if (care == doubleCare) return putDoubles(values, froms);
  if (care == decimalCare) return putDecimals(values, froms);
  return values;
}

/** A bit for each cell that is not null. Gives how many are. */
function putValidity(out: usize, column: i32): i32 {
  let at = lengthAt + ((<usize>column) << 2);
  let bits: u32 = 0;
  let place = shift;
  let nulls = 0;
  for (let row = 0; row < rows; row += 1) {
    const length = load<i32>(at);
    store<i32>(cellLengths + ((<usize>row) << 2), length);
    const isNull: u32 = <u32>length >> 31;
    nulls += isNull;
    bits |= (isNull ^ 1) << (<u32>place & 7);
    place += 1;
    if ((place & 7) == 0) {
      store<u8>(out + (place >> 3) - 1, bits);
      bits = 0;
    }
    at += stride;
  }
  if ((place & 7) != 0) store<u8>(out + (place >> 3), bits);
  return nulls;
}

function lengthOf(row: usize): i32 {
  return load<i32>(cellLengths + (row << 2));
}

/** Where a cell's text begins that is not null. */
function textAt(froms: usize, row: usize): usize {
  const from = load<i32>(froms + row * stride);
  return from < 0 ? textsAt + ~from : sourceAt + from;
}

function putTexts(ends: usize, start: usize, froms: usize, base: i32): usize {
  let out = start;
  for (let row: usize = 0; row < <usize>rows; row += 1) {
    const length = lengthOf(row);
    if (length > 0) out = putText(out, textAt(froms, row), length);
    store<i32>(ends + (row << 2), base + <i32>(out - start));
  }
  return out;
}

function countReplaced(marks: usize): void {
  for (let row: usize = 0; row < <usize>rows; row += 1) {
    if ((load<u8>(marks + row * <usize>columns) & replaced) != 0 && lengthOf(row) > 0) replacements += 1;
  }
}

function putBooleans(out: usize, froms: usize): usize {
  memory.fill(out, 0, bitBytes());
  for (let row: usize = 0; row < <usize>rows; row += 1) {
    if (lengthOf(row) <= 0 || byteAt(textAt(froms, row)) != lowerT) continue;
    const place = shift + row;
    const byte = out + (place >> 3);
    store<u8>(byte, load<u8>(byte) | ((<u32>1) << (<u32>place & 7)));
  }
  return out + bitBytes();
}

function putIntegers(out: usize, froms: usize): usize {
  for (let row: usize = 0; row < <usize>rows; row += 1) {
    addDigits(textAt(froms, row), lengthOf(row));
    store<u64>(out + (row << 3), low);
  }
  return out + wholeBlocks((<usize>rows) << 3);
}

function putDoubles(out: usize, froms: usize): usize {
  for (let row: usize = 0; row < <usize>rows; row += 1) {
    store<f64>(out + (row << 3), doubleAt(textAt(froms, row), lengthOf(row)));
  }
  return out + wholeBlocks((<usize>rows) << 3);
}

function putDecimals(out: usize, froms: usize): usize {
  for (let row: usize = 0; row < <usize>rows; row += 1) {
    addDigits(textAt(froms, row), lengthOf(row));
    store<u64>(out + (row << 4), low);
    store<u64>(out + (row << 4), high, 8);
  }
  return out + ((<usize>rows) << 4);
}
