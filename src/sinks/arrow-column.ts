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

/** Which values are not null, a bit each; no bits where all are. */
export function validityOf(cells: readonly unknown[]): { validity: Uint8Array; nullCount: number } {
  let nullCount = 0;
  for (const cell of cells) if (cell === null) nullCount += 1;
  if (nullCount === 0) return { validity: new Uint8Array(0), nullCount };
  return { validity: bitsOf(cells, (cell) => cell !== null), nullCount };
}

function valuesOf(type: ColumnType, cells: readonly Cell[]): Values {
  switch (type) {
    case 'string':
    case 'json':
      return textValues(cells);
    case 'boolean':
      return { values: bitsOf(cells, (cell) => cell === true) };
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
  const offsets = new Int32Array(cells.length + 1);
  if (text === '') return { values: new Uint8Array(0), offsets };
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length !== text.length) return wideTextValues(cells, { offsets, text });
  let end = 0;
  let place = 0;
  for (const cell of cells) {
    if (typeof cell === 'string') end += cell.length;
    place += 1;
    offsets[place] = end;
  }
  return { values: bytes, offsets };
}

function wideTextValues(cells: readonly Cell[], { offsets, text }: { offsets: Int32Array; text: string }): Values {
  const bytes = Buffer.allocUnsafe(text.length * 3);
  let end = 0;
  let place = 0;
  let replacedSurrogates = 0;
  for (const cell of cells) {
    if (typeof cell === 'string') {
      end += bytes.write(cell, end);
      if (!isWellFormed(cell)) replacedSurrogates += 1;
    }
    place += 1;
    offsets[place] = end;
  }
  return { values: bytes.subarray(0, end), offsets, replacedSurrogates };
}

/** Two's complement in one or two words of 64 bits. */
function integerValues(cells: readonly Cell[], words: 1 | 2): Values {
  const values = new BigInt64Array(cells.length * words);
  let place = -words;
  for (const cell of cells) {
    place += words;
    if (cell === 0 || (typeof cell !== 'number' && typeof cell !== 'bigint')) continue;
    const value = BigInt(cell);
    values[place] = BigInt.asIntN(64, value);
    if (words === 2) values[place + 1] = value >> 64n;
  }
  return { values };
}

function bitsOf<T>(cells: readonly T[], isSet: (cell: T) => boolean): Uint8Array {
  const bits = new Uint8Array((cells.length + 7) >> 3);
  let place = 0;
  for (const cell of cells) {
    if (isSet(cell)) bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
    place += 1;
  }
  return bits;
}
