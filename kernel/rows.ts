import {
  capacitySlot,
  firstTableSlot,
  fromSlot,
  lengthSlot,
  marksSlot,
  rowsBeforeSlot,
  rowsSlot,
  tableSlots,
  widthSlot,
} from '../src/lib/kernel/slots';
import { header } from './memory';
import { setFull } from './made';

/**
 * Rows of `assets` (table 0) and of the child tables, as `RowBlock` has them: where each cell's text begins and its length, by the number of the cell. Tables lie in
 * the header.
 */
const tables: usize = header + ((<usize>firstTableSlot) << 2);
const tableBytes: usize = (<usize>tableSlots) << 2;

const widthAt: usize = (<usize>widthSlot) << 2;
const fromAt: usize = (<usize>fromSlot) << 2;
const lengthAt: usize = (<usize>lengthSlot) << 2;
const marksAt: usize = (<usize>marksSlot) << 2;
const capacityAt: usize = (<usize>capacitySlot) << 2;
const rowsAt: usize = (<usize>rowsSlot) << 2;
const beforeAt: usize = (<usize>rowsBeforeSlot) << 2;
/** The first cell of the row that was added last. */
const baseAt: usize = beforeAt + 4;

export function table(number: i32): usize {
  return tables + <usize>number * tableBytes;
}

export function rowsOf(table: usize): i32 {
  return load<i32>(table, rowsAt);
}

/** Rows of the answer so far, with those that TypeScript has taken. */
export function allRowsOf(table: usize): i32 {
  return load<i32>(table, beforeAt) + load<i32>(table, rowsAt);
}

export function cutRows(table: usize, rows: i32): void {
  store<i32>(table, rows, rowsAt);
}

/** The cell of a column in the row that was added last. */
export function cellOf(table: usize, column: i32): i32 {
  return load<i32>(table, baseAt) + column;
}

/** The first cell of a row. */
export function firstCell(table: usize, row: i32): i32 {
  return row * load<i32>(table, widthAt);
}

/** Adds a row of nulls. False, and `isFull` is set, where there is no room. */
export function addRow(table: usize): bool {
  const rows = load<i32>(table, rowsAt);
  if (rows == load<i32>(table, capacityAt)) {
    setFull(true);
    return false;
  }
  const width = load<i32>(table, widthAt);
  const base = rows * width;
  memory.fill(<usize>load<u32>(table, lengthAt) + ((<usize>base) << 2), 0xff, (<usize>width) << 2);
  store<i32>(table, base, baseAt);
  store<i32>(table, rows + 1, rowsAt);
  return true;
}

export function setCell(table: usize, cell: i32, from: i32, length: i32, marks: i32): void {
  const place = (<usize>cell) << 2;
  store<i32>(<usize>load<u32>(table, fromAt) + place, from);
  store<i32>(<usize>load<u32>(table, lengthAt) + place, length);
  store<u8>(<usize>load<u32>(table, marksAt) + <usize>cell, marks);
}

export function lengthOf(table: usize, cell: i32): i32 {
  return load<i32>(<usize>load<u32>(table, lengthAt) + ((<usize>cell) << 2));
}

export function fromOf(table: usize, cell: i32): i32 {
  return load<i32>(<usize>load<u32>(table, fromAt) + ((<usize>cell) << 2));
}

export function copyCell(table: usize, cell: i32, other: usize, otherCell: i32): void {
  const marks = load<u8>(<usize>load<u32>(other, marksAt) + <usize>otherCell);
  setCell(table, cell, fromOf(other, otherCell), lengthOf(other, otherCell), marks);
}
