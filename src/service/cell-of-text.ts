import { ExactNumber } from '../assets/exact-number.ts';
import { type Json, stringifyJson } from '../assets/json.ts';
import type { Cell, ColumnType } from '../assets/table.ts';

/** A cell from its text in a CSV file; null when the cell was empty without quotes. */
export function cellOfText(text: string | null, type: ColumnType): Cell {
  if (text === null) return null;
  if (type === 'boolean') return text === 'true';
  if (type === 'double') return Number(text);
  if (type === 'int64' || type === 'decimal') return integer(text);
  return text;
}

/** A cell from a member of a JSONL row. */
export function cellOfJson(value: Json | undefined, type: ColumnType): Cell {
  if (value === undefined || value === null) return null;
  if (type === 'json') return stringifyJson(value);
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  const text = value instanceof ExactNumber ? value.text : stringifyJson(value);
  return type === 'double' ? Number(text) : integer(text);
}

function integer(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text);
}
