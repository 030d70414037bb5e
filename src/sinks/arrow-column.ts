import * as arrow from '@uwdata/flechette';
import type { Cell, Column, ColumnType } from '../assets/table.ts';
import { arrowType } from './arrow-type.ts';
import { isWellFormed } from './well-formed.ts';

/** A column of one batch as Arrow lays it out, and the cells in it whose lone surrogates became U+FFFD. */
export interface ArrowCells {
  readonly column: arrow.Column<unknown>;
  readonly replacedSurrogates: number;
}

type Values = Pick<arrow.Batch<unknown>, 'values'> & { offsets?: Int32Array; replacedSurrogates?: number };

/**
 * Lays out the cells of one column. Flechette's own builders give the same but encode cell by cell, at a third of the speed.
 * @throws {Error} when a cell is null and the column says it never is: that is a bug of whoever made the row.
 */
export function arrowCells(column: Column, cells: readonly Cell[]): ArrowCells {
  const { batch, replacedSurrogates } = batchOf(column, cells);
  return { column: new arrow.Column([batch], arrowType(column)), replacedSurrogates };
}

/** The cells of a column without elements as one batch. */
export function batchOf(
  column: Column,
  cells: readonly Cell[],
): { batch: arrow.Batch<unknown>; replacedSurrogates: number } {
  const { validity, nullCount } = validityOf(cells);
  if (nullCount > 0 && !column.nullable) throw new Error(`column ${column.name} holds a null`);
  const { replacedSurrogates = 0, ...values } = valuesOf(column.type, cells);
  const batch = new arrow.Batch<unknown>({
    length: cells.length,
    nullCount,
    type: arrowType(column),
    validity,
    ...values,
  });
  return { batch, replacedSurrogates };
}

/** Which values are not null, a bit each. */
export function validityOf(cells: readonly unknown[]): { validity: Uint8Array; nullCount: number } {
  const validity = new Uint8Array((cells.length + 7) >> 3);
  let nullCount = 0;
  for (const [index, cell] of cells.entries()) {
    if (cell === null) nullCount += 1;
    else setBit(validity, index);
  }
  return { validity: nullCount === 0 ? new Uint8Array(0) : validity, nullCount };
}

function valuesOf(type: ColumnType, cells: readonly Cell[]): Values {
  switch (type) {
    case 'string':
    case 'json':
      return textValues(cells);
    case 'boolean':
      return bitValues(cells);
    case 'double':
      return { values: Float64Array.from(cells, (cell) => (typeof cell === 'number' ? cell : 0)) };
    case 'int64':
    case 'timestamp':
      return integerValues(cells, 1);
    case 'decimal':
      return integerValues(cells, 2);
  }
}

/** All text in one go while it is ASCII, where a character is a byte; else cell by cell. */
function textValues(cells: readonly Cell[]): Values {
  const text = cells.join('');
  const bytes = Buffer.from(text, 'utf8');
  const offsets = new Int32Array(cells.length + 1);
  if (bytes.length === text.length) {
    let end = 0;
    for (const [index, cell] of cells.entries()) {
      if (typeof cell === 'string') end += cell.length;
      offsets[index + 1] = end;
    }
    return { values: bytes, offsets };
  }
  return wideTextValues(cells, { offsets, text });
}

function wideTextValues(cells: readonly Cell[], { offsets, text }: { offsets: Int32Array; text: string }): Values {
  const bytes = Buffer.allocUnsafe(text.length * 3);
  let end = 0;
  let replacedSurrogates = 0;
  for (const [index, cell] of cells.entries()) {
    if (typeof cell === 'string') {
      end += bytes.write(cell, end);
      if (!isWellFormed(cell)) replacedSurrogates += 1;
    }
    offsets[index + 1] = end;
  }
  return { values: bytes.subarray(0, end), offsets, replacedSurrogates };
}

function bitValues(cells: readonly Cell[]): Values {
  const values = new Uint8Array((cells.length + 7) >> 3);
  for (const [index, cell] of cells.entries()) {
    if (cell === true) setBit(values, index);
  }
  return { values };
}

/** Two's complement in one or two words of 64 bits. */
function integerValues(cells: readonly Cell[], words: 1 | 2): Values {
  const values = new BigInt64Array(cells.length * words);
  for (const [index, cell] of cells.entries()) {
    if (typeof cell !== 'number' && typeof cell !== 'bigint') continue;
    const value = BigInt(cell);
    values[index * words] = BigInt.asIntN(64, value);
    if (words === 2) values[index * words + 1] = value >> 64n;
  }
  return { values };
}

function setBit(bits: Uint8Array, index: number): void {
  bits[index >> 3] = (bits[index >> 3] ?? 0) | (1 << (index & 7));
}
