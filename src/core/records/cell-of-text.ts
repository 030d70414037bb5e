import { ExactNumber, type Json, stringifyJson } from '../../lib/json/json.ts';
import { timestampOf } from './texts.ts';
import { type RowBlock, textOfCell } from './row-block.ts';
import type { Cell, Column, ColumnType } from './table.ts';

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
