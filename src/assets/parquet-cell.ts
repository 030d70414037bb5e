import { type Element, listText } from './list-elements.ts';
import { listTableOf } from './shape-table.ts';
import type { Cell, Column } from './table.ts';
import { utf8Text } from './utf8-text.ts';

/** The cell for a value as a Parquet file keeps it: bytes for text and decimals, bigints for 64-bit integers, arrays for lists. */
export function cellOfParquet(value: unknown, column: Column): Cell {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return safe(value);
  if (value instanceof Uint8Array)
    return column.type === 'decimal' ? safe(twosComplement(value)) : utf8Text(value, 0, value.length);
  if (Array.isArray(value)) {
    const elements = column.elements ?? listTableOf(column)?.columns.slice(2) ?? [];
    return listText(
      elements,
      value.map((element) => elementOf(element, elements)),
    );
  }
  throw new Error(`column ${column.name} holds a ${typeof value}`);
}

/** A struct without a member is a null element: every other one leaves a trace. */
function elementOf(struct: unknown, elements: readonly Column[]): Element {
  if (typeof struct !== 'object' || struct === null) return null;
  const members = struct as Readonly<Record<string, unknown>>;
  const cells = elements.map((column) => cellOfParquet(members[column.name], column));
  return cells.every((cell) => cell === null) ? null : cells;
}

/** Parquet keeps decimals as big-endian two's complement. */
function twosComplement(bytes: Uint8Array): bigint {
  return BigInt.asIntN(bytes.length * 8, BigInt(`0x${Buffer.from(bytes).toString('hex')}`));
}

function safe(value: bigint): number | bigint {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER ? Number(value) : value;
}
