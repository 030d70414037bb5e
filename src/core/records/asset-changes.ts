import { parseJson, stringifyJson, isJsonObject, type Json, type JsonObject } from '../../lib/json/json.ts';
import { type RowBlock, textOfCell } from './row-block.ts';
import { type Cell, type Column, isIdColumn, type Row, type Table, wholeName } from './table.ts';
import { timestampText } from './texts.ts';

/** Two rows of the same columns, in whatever form their cells have. */
export interface RowPair {
  isSame(place: number): boolean;
  /** The texts of both cells. */
  texts(place: number): readonly [before: string | null, after: string | null];
}

/** The places of the columns in which two rows differ, in their order. */
export type RowComparison = (pair: RowPair) => number[];

/** Whether a column says when a row was requested. Such columns are never changes. */
export function isTime(column: Column): boolean {
  return ['fetched_at', 'exported_at'].includes(wholeName(column));
}

/**
 * How rows of `assets` are compared, by each command that does.
 * @param ignored names of columns, and paths in `extra`, as the column table has them
 */
export function compareAssets(columns: readonly Column[], ignored: readonly string[]): RowComparison {
  const places = columns.flatMap((column, place) => {
    return isIdColumn(column) || isTime(column) || ignored.includes(wholeName(column)) ? [] : [place];
  });
  const extra = columns.findIndex((column) => wholeName(column) === 'extra');
  const paths = ignored.filter((name) => name.startsWith('extra.')).map((name) => name.split('.').slice(1));
  return (pair) =>
    places.filter((place) => {
      if (pair.isSame(place)) return false;
      if (place !== extra || paths.length === 0) return true;
      const [before, after] = pair.texts(place);
      return without(before, paths) !== without(after, paths);
    });
}

/**
 * Whether rows of `assets` differ wherever those of a child table do: they have the column of its list, and it is compared.
 * @param ignored names of columns, as the column table has them
 */
export function showRowsOf(
  { list }: Pick<Table, 'list'>,
  assets: readonly Column[],
  ignored: readonly string[],
): boolean {
  const isList = (column: Column): boolean => column.path.join('.') === list?.join('.');
  return list === undefined || assets.some((column) => isList(column) && !ignored.includes(wholeName(column)));
}

/** Rows of cells to compare. */
export function cellPair(before: Row, after: Row): RowPair {
  const textAt = (row: Row, place: number): string | null => {
    const cell = row[place] ?? null;
    return cell === null ? null : String(cell);
  };
  return {
    isSame: (place) => Object.is(before[place] ?? null, after[place] ?? null),
    texts: (place) => [textAt(before, place), textAt(after, place)],
  };
}

interface BlockRow {
  readonly block: RowBlock;
  readonly row: number;
}

/** Rows of blocks to compare. */
export function blockPair(before: BlockRow, after: BlockRow): RowPair {
  const [old, now] = [before.row * before.block.width, after.row * after.block.width];
  return {
    isSame: (place) => {
      const length = before.block.length[old + place] ?? -1;
      if (length !== (after.block.length[now + place] ?? -1)) return false;
      return length <= 0 || bytesOf(before.block, old + place).equals(bytesOf(after.block, now + place));
    },
    texts: (place) => [textOfCell(before.block, old + place), textOfCell(after.block, now + place)],
  };
}

function bytesOf({ source, made, from, length }: RowBlock, cell: number): Buffer {
  const at = from[cell] ?? 0;
  const bytes = at < 0 ? made : source;
  return Buffer.from(bytes.buffer, bytes.byteOffset + (at < 0 ? ~at : at), length[cell] ?? 0);
}

/** The text of `extra` without some members, and without the objects around them that hold nothing else. */
function without(text: string | null, paths: readonly (readonly string[])[]): string | null {
  const value = text === null ? null : parseJson(text);
  if (!isJsonObject(value)) return text;
  for (const path of paths) removeMember(value, path);
  return Object.keys(value).length === 0 ? null : stringifyJson(value);
}

function removeMember(object: JsonObject, [name = '', ...rest]: readonly string[]): void {
  if (!Object.hasOwn(object, name)) return;
  if (rest.length > 0) {
    const member: Json | undefined = object[name];
    if (!isJsonObject(member)) return;
    removeMember(member, rest);
    if (Object.keys(member).length > 0) return;
  }
  Reflect.deleteProperty(object, name);
}

/** JSON of the values of a row, by the names of the columns at these places. */
export function valuesText(columns: readonly Column[], row: Row, places: readonly number[]): string {
  const members = places.flatMap((place) => {
    const column = columns[place];
    return column === undefined ? [] : [`${JSON.stringify(column.name)}:${valueText(row[place] ?? null, column)}`];
  });
  return `{${members.join(',')}}`;
}

/** A cell as JSONL has it. */
function valueText(cell: Cell, { type }: Column): string {
  if (cell === null) return 'null';
  if (type === 'json') return String(cell);
  if (type === 'timestamp') return JSON.stringify(timestampText(Number(cell)));
  if (typeof cell === 'string') return JSON.stringify(cell);
  return Object.is(cell, -0) ? '-0' : String(cell);
}
