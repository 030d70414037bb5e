import { isAsset } from './asset.ts';
import { assetsTable } from './columns.ts';
import type { Drift } from './drift.ts';
import { MemberTakers, takeColumn } from './flatten-members.ts';
import { stringifyJson } from '../../lib/json/json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../lib/json/json-value.ts';
import type { Cell, Row } from './table.ts';

/** A record as a row of `assets`, and how it differs from the specification. */
export interface FlatAsset {
  readonly row: Row;
  readonly drift: readonly Drift[];
}

const emptyRow: readonly Cell[] = assetsTable.columns.map(() => null);
const collectionAt = assetsTable.columns.findIndex((column) => column.name === 'collection');
const extraAt = assetsTable.columns.findIndex((column) => column.name === 'extra');

const takers = new MemberTakers('');
for (const [index, column] of assetsTable.columns.entries()) takers.addColumn(column.path, takeColumn(column, index));

/**
 * Makes the row of `assets` from a record. Null members count as absent; whatever has no column, or does not fit it, goes to
 * `extra` under its path, so that `rebuildAsset` gives the record back.
 * @throws {TypeError} when the record has no id: answers are matched by it, so none should get here.
 */
export function flattenAsset(record: JsonObject): FlatAsset {
  if (!isAsset(record)) throw new TypeError('a record without an id cannot become a row');
  const row = emptyRow.slice();
  const drift: Drift[] = [];
  const extra = takers.take(record, { row, drift });
  if (extra !== undefined) row[extraAt] = stringifyJson(extra);
  row[collectionAt] = collectionOf(record.grouping);
  return { row, drift };
}

/** The value of the first group of the kind `collection`. */
function collectionOf(grouping: Json | undefined): string | null {
  if (!Array.isArray(grouping)) return null;
  const group = grouping.find((element) => isJsonObject(element) && element.group_key === 'collection');
  return isJsonObject(group) && typeof group.group_value === 'string' ? group.group_value : null;
}
