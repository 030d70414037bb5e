/// <reference lib="es2024.string" />
import { childRows } from './child-tables.ts';
import { tableByName } from './columns.ts';
import { parseJson, stringifyJson } from '../../lib/json/json.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  setMember,
  numberOf,
  numberText,
} from '../../lib/json/json-value.ts';
import type { Cell, Column, Row } from './table.ts';

/** An element's cells, in the order of the column's `elements`; null for a null element. */
export type Element = Row | null;

/** Cells of a child row that say where it belongs, and are no part of the element. */
const placeCells = 2;

/** The elements of a cell of a list column. @throws {Error} when the column has no elements, or the cell is no JSON array */
export function listElements(column: Column, cell: string): Element[] {
  const table = tableByName(column.list ?? '');
  const list = parseJson(cell);
  if (table?.list === undefined || !Array.isArray(list)) throw new Error(`column ${column.name} holds no list`);
  const [first = '', ...rest] = table.list;
  const record: JsonObject = { [first]: rest.reduceRight<Json>((value, name) => ({ [name]: value }), list) };
  return childRows(table, record).map((row, at) => elementOf(row.slice(placeCells), list[at] ?? null));
}

function elementOf(cells: Row, element: Json): Element {
  if (element === null) return null;
  // Text of a struct cannot hold half a character; its `extra` keeps the escape.
  if (cells.every((cell) => typeof cell !== 'string' || cell.isWellFormed())) return cells;
  return [...cells.slice(0, -1).map(() => null), stringifyJson(element)];
}

/** The JSON text of a list from its elements: the input of `listElements`, except null members and the order of members. */
export function listText(elements: readonly Column[], list: readonly Element[]): string {
  return stringifyJson(list.map<Json>((element) => (element === null ? null : jsonOf(elements, element))));
}

function jsonOf(elements: readonly Column[], cells: Row): Json {
  const extraText = cells[elements.length - 1];
  const extra = typeof extraText === 'string' ? parseJson(extraText) : null;
  if (extra !== null && !isJsonObject(extra)) return extra;
  const object: JsonObject = extra ?? {};
  const kinds = elements.findIndex(({ name }) => name === 'value_type');
  for (const [index, column] of elements.entries()) {
    const name = column.path[0];
    const cell = cells[index] ?? null;
    if (name === undefined || cell === null) continue;
    const kind = column.name === 'value' ? cells[kinds] : undefined;
    setMember(object, name, valueOf(cell, column, kind ?? null));
  }
  return object;
}

/** `kind` is the JSON type of a trait's value, whose cell is its text. */
function valueOf(cell: Exclude<Cell, null>, column: Column, kind: Cell): Json {
  if (typeof cell === 'bigint') return numberOf(String(cell));
  if (typeof cell === 'number') return numberOf(numberText(cell));
  if (typeof cell === 'boolean') return cell;
  const isJson = column.type === 'json' || (typeof kind === 'string' && kind !== 'string');
  return isJson ? parseJson(cell) : cell;
}
