import { attributesTable } from './columns.ts';
import { type Drift, driftPath } from './drift.ts';
import { MemberTakers, takeColumn } from './flatten-asset.ts';
import {
  stringifyJson,
  isJsonObject,
  type Json,
  type JsonArray,
  type JsonObject,
  ExactNumber,
  numberText,
} from '../../lib/json/json.ts';
import type { Cell, Row, Table } from './table.ts';

type RowsOf = (record: JsonObject, drift: Drift[]) => Row[];

const compiled = new WeakMap<Table, RowsOf>();

/**
 * The rows of a child table: one for each element of its list, by position; none where the record has no such list.
 * An element that is no object is kept whole in `extra`. How the list differs from the specification is added to `drift`;
 * a table with `where` adds only values that do not fit, because the table of the whole list counts the unknown fields.
 */
export function childRows(table: Table, record: JsonObject, drift: Drift[] = []): Row[] {
  let rowsOf = compiled.get(table);
  if (rowsOf === undefined) {
    rowsOf = compile(table);
    compiled.set(table, rowsOf);
  }
  return rowsOf(record, drift);
}

function compile(table: Table): RowsOf {
  const list = table.list ?? [];
  const path = list.reduce(driftPath, '');
  const { where } = table;
  const takers = new MemberTakers(`${path}[]`, where === undefined);
  if (where !== undefined) takers.addColumn([where.member], () => () => undefined);
  const emptyRow: readonly Cell[] = table.columns.map(() => null);
  const [assetIdAt = -1, positionAt = -1, valueTypeAt = -1, extraAt = -1] = [
    'asset_id',
    'position',
    'value_type',
    'extra',
  ].map((name) => table.columns.findIndex((column) => column.name === name));
  for (const [index, column] of table.columns.entries()) {
    takers.addColumn(
      column.path,
      isTraitValue(table, column.name) ? takeColumn(column, index, textOf) : takeColumn(column, index),
    );
  }

  return (record, drift) => {
    const elements = elementsOf(table, memberAt(record, list));
    if (elements === undefined) drift.push({ path, kind: 'misfit' });
    return (elements ?? []).flatMap((element, position) => {
      if (where !== undefined && !(isJsonObject(element) && element[where.member] === where.value)) return [];
      const row = emptyRow.slice();
      row[assetIdAt] = typeof record.id === 'string' ? record.id : null;
      row[positionAt] = position;
      const extra = element === null ? undefined : takers.take(element, { row, drift });
      if (extra !== undefined) row[extraAt] = stringifyJson(extra);
      if (valueTypeAt !== -1) row[valueTypeAt] = valueTypeOf(element);
      return [row];
    });
  };
}

function memberAt(record: JsonObject, path: readonly string[]): Json {
  let value: Json = record;
  for (const name of path) {
    if (!isJsonObject(value)) return null;
    value = value[name] ?? null;
  }
  return value;
}

/** The list's elements; attributes may come as an object of traits instead. Undefined when it is neither. */
function elementsOf(table: Table, list: Json): JsonArray | undefined {
  if (list === null) return [];
  if (Array.isArray(list)) return list;
  if (table.name !== attributesTable.name || !isJsonObject(list)) return undefined;
  return Object.entries(list).map(([trait, value]) => ({ trait_type: trait, value }));
}

function isTraitValue(table: Table, column: string): boolean {
  return table.name === attributesTable.name && column === 'value';
}

/** The text of a trait's value; `value_type` says what it was. */
function textOf(value: Json): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || value instanceof ExactNumber ? numberText(value) : stringifyJson(value);
}

function valueTypeOf(element: Json): string | null {
  if (!isJsonObject(element) || !Object.hasOwn(element, 'value')) return null;
  const value = element.value ?? null;
  if (value === null) return 'null';
  if (value instanceof ExactNumber) return 'number';
  return Array.isArray(value) ? 'array' : typeof value;
}
