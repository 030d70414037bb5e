import { assetsTable } from './columns.ts';
import {
  parseJson,
  isJsonObject,
  type Json,
  type JsonObject,
  setMemberAt,
  numberOf,
  numberText,
} from '../../lib/json/json.ts';
import type { Cell, Column, Row } from './table.ts';

const extraAt = assetsTable.columns.findIndex((column) => column.name === 'extra');

/**
 * The record that a row of `assets` was made from: equal to it except null members, which are absent, the order of members,
 * and numbers written another way (`1.0` in a typed column comes back as `1`).
 * @throws {SyntaxError} when a json cell holds no JSON.
 */
export function rebuildAsset(row: Row): JsonObject {
  // What the columns could not hold comes first: a row made from the result again has its `extra` in the same order.
  const extra = row[extraAt];
  const left = typeof extra === 'string' ? parseJson(extra) : null;
  const record: JsonObject = isJsonObject(left) ? left : {};
  for (const [index, column] of assetsTable.columns.entries()) {
    const cell = row[index] ?? null;
    if (cell !== null && column.path.length > 0) setMemberAt(record, column.path, valueOf(cell, column));
  }
  return record;
}

function valueOf(cell: Exclude<Cell, null>, column: Column): Json {
  if (typeof cell === 'bigint') return numberOf(String(cell));
  if (typeof cell === 'number') return numberOf(numberText(cell));
  return column.type === 'json' && typeof cell === 'string' ? parseJson(cell) : cell;
}
