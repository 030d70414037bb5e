"use strict";
Object.defineProperty(exports, "__esModule", { value: true });
exports.table = table;
exports.rowsOf = rowsOf;
exports.allRowsOf = allRowsOf;
exports.cutRows = cutRows;
exports.cellOf = cellOf;
exports.firstCell = firstCell;
exports.addRow = addRow;
exports.setCell = setCell;
exports.lengthOf = lengthOf;
exports.fromOf = fromOf;
exports.copyCell = copyCell;
const slots_1 = require("../src/lib/kernel/slots");
const memory_1 = require("./memory");
const made_1 = require("./made");
/**
 * Rows of `assets` (table 0) and of the child tables, as `RowBlock` has them: where each cell's text begins and its length, by the number of the cell. Tables lie in
 * the header.
 */
const tables = memory_1.header + (slots_1.firstTableSlot << 2);
const tableBytes = slots_1.tableSlots << 2;
const widthAt = slots_1.widthSlot << 2;
const fromAt = slots_1.fromSlot << 2;
const lengthAt = slots_1.lengthSlot << 2;
const marksAt = slots_1.marksSlot << 2;
const capacityAt = slots_1.capacitySlot << 2;
const rowsAt = slots_1.rowsSlot << 2;
const beforeAt = slots_1.rowsBeforeSlot << 2;
/** The first cell of the row that was added last. */
const baseAt = beforeAt + 4;
function table(number) {
    return tables + number * tableBytes;
}
function rowsOf(table) {
    return load(table, rowsAt);
}
/** Rows of the answer so far, with those that TypeScript has taken. */
function allRowsOf(table) {
    return load(table, beforeAt) + load(table, rowsAt);
}
function cutRows(table, rows) {
    store(table, rows, rowsAt);
}
/** The cell of a column in the row that was added last. */
function cellOf(table, column) {
    return load(table, baseAt) + column;
}
/** The first cell of a row. */
function firstCell(table, row) {
    return row * load(table, widthAt);
}
/** Adds a row of nulls. False, and `isFull` is set, where there is no room. */
function addRow(table) {
    const rows = load(table, rowsAt);
    if (rows == load(table, capacityAt)) {
        (0, made_1.setFull)(true);
        return false;
    }
    const width = load(table, widthAt);
    const base = rows * width;
    memory.fill(load(table, lengthAt) + (base << 2), 0xff, width << 2);
    store(table, base, baseAt);
    store(table, rows + 1, rowsAt);
    return true;
}
function setCell(table, cell, from, length, marks) {
    const place = cell << 2;
    store(load(table, fromAt) + place, from);
    store(load(table, lengthAt) + place, length);
    store(load(table, marksAt) + cell, marks);
}
function lengthOf(table, cell) {
    return load(load(table, lengthAt) + (cell << 2));
}
function fromOf(table, cell) {
    return load(load(table, fromAt) + (cell << 2));
}
function copyCell(table, cell, other, otherCell) {
    const marks = load(load(other, marksAt) + otherCell);
    setCell(table, cell, fromOf(other, otherCell), lengthOf(other, otherCell), marks);
}
