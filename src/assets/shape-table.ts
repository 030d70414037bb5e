import { assetsTable, tables } from './columns.ts';
import type { Drift } from './drift.ts';
import { driftPath } from './drift.ts';
import { parseJson, stringifyJson } from './json.ts';
import { isJsonObject, type JsonObject, setMember } from './json-value.ts';
import type { Cell, Column, Row, Table } from './table.ts';

/** What a job makes of the tables. Names are those of `assets` before they are changed. */
export interface TableShape {
  /** Columns of `assets`, in this order; all when absent. */
  readonly columns?: readonly string[] | undefined;
  readonly exclude: readonly string[];
  readonly rename: Readonly<Record<string, string>>;
  /** Lists in `assets` have elements (see `Column.elements`). */
  readonly nested: boolean;
  /** When the export began, in microseconds since 1970 (UTC): the value of `exported_at`, which every table has then. */
  readonly exportedAtUs?: number;
}

/** A table as it is written. */
export interface ShapedTable {
  readonly table: Table;
  /** The table as the column table has it. */
  readonly whole: Table;
  /** The cells that are written of a row of the whole table. What a list column cannot hold is added to `drift`. */
  readonly pick: (row: Row, drift: Drift[]) => Row;
}

export const exportedAt: Column = {
  name: 'exported_at',
  type: 'timestamp',
  nullable: false,
  path: [],
  about: 'When the export began, UTC.',
};

/** The whole tables, as a job that says nothing of columns writes them. */
export const wholeTables: TableShape = { exclude: [], rename: {}, nested: false };

/** Applies a job's choice of columns: to `assets`; child tables stay whole but for `exported_at`. */
export function shapeTable(table: Table, shape: TableShape): ShapedTable {
  const isAssets = table.name === assetsTable.name;
  const all = [...table.columns, ...(shape.exportedAtUs === undefined ? [] : [exportedAt])];
  const kept = isAssets ? keptColumns(all, shape) : all;
  const places = kept.map((column) => all.indexOf(column));
  const lists = isAssets && shape.nested ? listPlaces() : [];
  const columns = kept.map((column) => shapedColumn(column, isAssets ? shape : wholeTables));
  const added: Row = shape.exportedAtUs === undefined ? [] : [shape.exportedAtUs];
  const isWhole = added.length === 0 && lists.length === 0 && places.every((place, index) => place === index);
  if (isWhole && places.length === table.columns.length) {
    return { table: { ...table, columns }, whole: table, pick: (row) => row };
  }
  return {
    table: { ...table, columns },
    whole: table,
    pick: (row, drift) => {
      const listed = lists.length === 0 ? row : withListsOnly(row, lists, drift);
      const cells = added.length === 0 ? listed : [...listed, ...added];
      return places.map((place) => cells[place] ?? null);
    },
  };
}

/** The child table whose elements a list column of `assets` holds. */
export function listTableOf(column: Column): Table | undefined {
  if (column.type !== 'json' || column.path.length === 0) return undefined;
  const path = column.path.join('\0');
  return tables.find((table) => table.list?.join('\0') === path);
}

function keptColumns(all: readonly Column[], { columns, exclude }: TableShape): Column[] {
  const named = columns?.flatMap((name) => all.filter((column) => column.name === name));
  const chosen = named ?? all;
  // A list of columns is about the record's; exported_at was asked for by itself.
  const stamp = all.filter((column) => column === exportedAt && !chosen.includes(column));
  return [...chosen, ...stamp].filter(({ name }) => !exclude.includes(name));
}

function shapedColumn(column: Column, { rename, nested }: TableShape): Column {
  const list = nested ? listTableOf(column) : undefined;
  const name = Object.hasOwn(rename, column.name) ? rename[column.name] : undefined;
  return {
    ...column,
    ...(name === undefined || name === column.name ? {} : { name, from: column.name }),
    // The first two columns of a child table say where an element belongs.
    ...(list === undefined ? {} : { elements: list.columns.slice(2), list: list.name }),
  };
}

const extraAt = assetsTable.columns.findIndex(({ name }) => name === 'extra');

function listPlaces(): number[] {
  return assetsTable.columns.flatMap((column, index) => (listTableOf(column) === undefined ? [] : [index]));
}

/** Moves what is no list from list columns to `extra`, under its path. */
function withListsOnly(row: Row, lists: readonly number[], drift: Drift[]): Row {
  let moved: Cell[] | undefined;
  for (const place of lists) {
    const cell = row[place];
    if (typeof cell !== 'string' || cell.startsWith('[')) continue;
    const path = assetsTable.columns[place]?.path ?? [];
    moved ??= [...row];
    moved[place] = null;
    moved[extraAt] = withMember(moved[extraAt] ?? null, path, cell);
    drift.push({ path: path.reduce(driftPath, ''), kind: 'misfit' });
  }
  return moved ?? row;
}

function withMember(extra: Cell, path: readonly string[], text: string): string {
  const whole = typeof extra === 'string' ? parseJson(extra) : null;
  const root: JsonObject = isJsonObject(whole) ? whole : {};
  let object = root;
  for (const name of path.slice(0, -1)) {
    const member = object[name];
    const branch = isJsonObject(member) ? member : {};
    object[name] = branch;
    object = branch;
  }
  setMember(object, path.at(-1) ?? '', parseJson(text));
  return stringifyJson(root);
}
