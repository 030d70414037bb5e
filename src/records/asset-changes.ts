import { parseJson, stringifyJson } from './json/json.ts';
import { isJsonObject, type Json, type JsonObject } from './json/json-value.ts';
import type { Cell, Column, Row } from './table.ts';
import { timestampText } from './timestamp-text.ts';

/** Columns that say when a row was requested. */
const times: readonly string[] = ['fetched_at', 'exported_at'];

/** Compares two rows of `assets`. */
export interface RowComparison {
  /** Names of the columns that differ, in their order. */
  differences(before: Row, after: Row): string[];
  /** JSON of the values of a row by their names; of all columns unless named. */
  valuesText(row: Row, names?: readonly string[]): string;
}

/** @param ignored names of columns, and paths in `extra`, as the column table has them */
export function compareRows(columns: readonly Column[], ignored: readonly string[]): RowComparison {
  const places = columns.flatMap((column, place) => {
    const whole = column.from ?? column.name;
    return whole === 'id' || times.includes(whole) || ignored.includes(whole) ? [] : [place];
  });
  const extra = columns.findIndex((column) => (column.from ?? column.name) === 'extra');
  const paths = ignored.filter((name) => name.startsWith('extra.')).map((name) => name.split('.').slice(1));
  const isSame = (place: number, before: Cell, after: Cell): boolean =>
    Object.is(before, after) ||
    (place === extra && paths.length > 0 && without(before, paths) === without(after, paths));
  return {
    differences: (before, after) =>
      places
        .filter((place) => !isSame(place, before[place] ?? null, after[place] ?? null))
        .map((place) => columns[place]?.name ?? ''),
    valuesText: (row, names) => {
      const members = columns.flatMap((column, place) =>
        names === undefined || names.includes(column.name)
          ? [`${JSON.stringify(column.name)}:${valueText(row[place] ?? null, column)}`]
          : [],
      );
      return `{${members.join(',')}}`;
    },
  };
}

/** The text of `extra` without some members; objects that only held these go, too. */
function without(cell: Cell, paths: readonly (readonly string[])[]): string | null {
  if (typeof cell !== 'string') return null;
  const value = parseJson(cell);
  if (!isJsonObject(value)) return cell;
  for (const path of paths) removeMember(value, path);
  return Object.keys(value).length === 0 ? null : stringifyJson(value);
}

function removeMember(object: JsonObject, [name = '', ...rest]: readonly string[]): void {
  if (!Object.hasOwn(object, name)) return;
  const member: Json | undefined = object[name];
  if (rest.length > 0) {
    if (!isJsonObject(member)) return;
    const before = Object.keys(member).length;
    removeMember(member, rest);
    if (before === 0 || Object.keys(member).length > 0) return;
  }
  Reflect.deleteProperty(object, name);
}

/** A cell as JSONL has it. */
function valueText(cell: Cell, { type }: Column): string {
  if (cell === null) return 'null';
  if (type === 'json') return String(cell);
  if (type === 'timestamp') return JSON.stringify(timestampText(Number(cell)));
  if (typeof cell === 'string') return JSON.stringify(cell);
  return Object.is(cell, -0) ? '-0' : String(cell);
}
