import { isAsset, type Drift, driftPath } from './drift.ts';
import { assetsTable, attributesTable } from './columns.ts';
import {
  stringifyJson,
  ExactNumber,
  isJsonObject,
  type Json,
  type JsonObject,
  numberText,
  setMember,
  type JsonArray,
} from '../../lib/json/json.ts';
import type { Cell, Column, ColumnType, Row, Table } from './table.ts';

/** A row being filled, and what was odd about its record. */
interface Sheet {
  readonly row: Cell[];
  readonly drift: Drift[];
}

/**
 * Takes a value that is not null into the row. Gives back what the row's columns cannot hold of it, for `extra`, or
 * undefined when they hold it all.
 */
type Take = (value: Json, sheet: Sheet) => Json | undefined;

/** Most names of unknown members remembered a place; rarer ones have their path made each time. */
const maxRemembered = 256;

/** What to do with the members of the objects at one path: made once from the columns, run for each record. */
class MemberTakers {
  readonly #path: string;
  readonly #countsUnknown: boolean;
  readonly #takers = new Map<string, Take>();
  readonly #unknown = new Map<string, Drift>();

  /** @param countsUnknown whether fields without a column are drift */
  constructor(path: string, countsUnknown = true) {
    this.#path = path;
    this.#countsUnknown = countsUnknown;
  }

  /** Has the column filled from the member at the rest of its path. */
  addColumn(path: readonly string[], take: (path: string) => Take): void {
    const [name, ...rest] = path;
    if (name === undefined) return;
    const memberPath = driftPath(this.#path, name);
    if (rest.length === 0) this.#takers.set(name, take(memberPath));
    else this.#branch(name, memberPath).addColumn(rest, take);
  }

  /** Takes the members of an object. An object that leaves no trace in the columns is given back as `{}`. */
  readonly take = (value: Json, sheet: Sheet): Json | undefined => {
    if (!isJsonObject(value)) {
      sheet.drift.push({ path: this.#path, kind: 'misfit' });
      return value;
    }
    let left: JsonObject | undefined;
    let taken = false;
    for (const name of Object.keys(value)) {
      const member = value[name] ?? null;
      if (member === null) continue;
      const take = this.#takers.get(name);
      const rest = take === undefined ? this.#leave(name, member, sheet) : take(member, sheet);
      if (rest === undefined) taken = true;
      else setMember((left ??= {}), name, rest);
    }
    return taken ? left : (left ?? {});
  };

  readonly #branches = new Map<string, MemberTakers>();

  #branch(name: string, path: string): MemberTakers {
    const known = this.#branches.get(name);
    if (known !== undefined) return known;
    const branch = new MemberTakers(path, this.#countsUnknown);
    this.#branches.set(name, branch);
    this.#takers.set(name, branch.take);
    return branch;
  }

  #leave(name: string, member: Json, sheet: Sheet): Json {
    if (!this.#countsUnknown) return member;
    let drift = this.#unknown.get(name);
    if (drift === undefined) {
      drift = { path: driftPath(this.#path, name), kind: 'unknownField' };
      if (this.#unknown.size < maxRemembered) this.#unknown.set(name, drift);
    }
    sheet.drift.push(drift);
    return member;
  }
}

/** Puts a value into the column's cell; gives it back, as a misfit, when the column cannot hold it. */
function takeColumn(column: Column, index: number, fit: Fit = fits[column.type]): (path: string) => Take {
  const values = column.values === undefined ? undefined : new Set<Json>(column.values);
  return (path) => {
    const misfit: Drift = { path, kind: 'misfit' };
    const unknownValue: Drift = { path, kind: 'unknownValue' };
    return (value, sheet) => {
      const cell = fit(value);
      if (cell === undefined) {
        sheet.drift.push(misfit);
        return value;
      }
      if (values !== undefined && !values.has(value)) sheet.drift.push(unknownValue);
      sheet.row[index] = cell;
      return undefined;
    };
  };
}

/** The cell for a value that is not null, or undefined when the column cannot hold just that value. */
type Fit = (value: Json) => Cell | undefined;

const fits: Readonly<Record<ColumnType, Fit>> = {
  string: (value) => (typeof value === 'string' ? value : undefined),
  boolean: (value) => (typeof value === 'boolean' ? value : undefined),
  int64: (value) => (isNumber(value) ? int64Of(value) : undefined),
  double: (value) => (isNumber(value) ? doubleOf(value) : undefined),
  decimal: (value) => (isNumber(value) ? uint64Of(value) : undefined),
  json: stringifyJson,
  // The service has none: the column for it is derived.
  timestamp: () => undefined,
};

function isNumber(value: Json): value is number | ExactNumber {
  return typeof value === 'number' || value instanceof ExactNumber;
}

const maxInt64 = 2n ** 63n - 1n;
const minInt64 = -(2n ** 63n);
const maxUint64 = 2n ** 64n - 1n;
/** Digits of the largest u64, and of the smallest int64 with its sign: no longer text can fit. */
const maxDigits = 20;

/** A number as a cell of an int64 column, or undefined when that cannot hold its exact value. */
export function int64Of(value: number | ExactNumber): number | bigint | undefined {
  return integerOf(value, minInt64, maxInt64);
}

/** A number as a cell of a decimal(20,0) column, a u64, or undefined when that cannot hold its exact value. */
export function uint64Of(value: number | ExactNumber): number | bigint | undefined {
  return integerOf(value, 0n, maxUint64);
}

/** A number as a double, or undefined when the double's shortest text is another number (`1e400`, 20 digits). */
export function doubleOf(value: number | ExactNumber): number | undefined {
  if (typeof value === 'number') return value;
  const double = Number(value.text);
  if (!Number.isFinite(double)) return undefined;
  return sameNumber(numberText(double), value.text) ? double : undefined;
}

/** True when two number texts mean the same number: `1.50` and `15e-1` do, and `0` and `-0`. */
export function sameNumber(a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [decimalOf(a), decimalOf(b)];
  const isZero = left.digits === '' && right.digits === '';
  return (
    (isZero || left.negative === right.negative) && left.digits === right.digits && left.exponent === right.exponent
  );
}

function integerOf(value: number | ExactNumber, min: bigint, max: bigint): number | bigint | undefined {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value + 0;
  const text = integerText(numberText(value));
  if (text === undefined) return undefined;
  // The text counts, not the double: JavaScript prints 2^64 as 18446744073709552000.
  const integer = BigInt(text);
  if (integer < min || integer > max) return undefined;
  const double = Number(integer);
  return Number.isSafeInteger(double) ? double : integer;
}

/** The plain digits of an integer of at most 20 (`12e2` is `1200`); undefined for others. Minus zero is 0. */
function integerText(text: string): string | undefined {
  if (/^(?:0|-?[1-9]\d*)$/.test(text)) return text.length <= maxDigits ? text : undefined;
  const { negative, digits, exponent } = decimalOf(text);
  if (exponent < 0 || digits.length + exponent > maxDigits) return undefined;
  return digits === '' ? '0' : (negative ? '-' : '') + digits + '0'.repeat(exponent);
}

/** The number as ±digits · 10^exponent, digits without a zero at either end; zero has none. */
function decimalOf(text: string) {
  const negative = text.startsWith('-');
  const [mantissa = '', power = '0'] = (negative ? text.slice(1) : text).split(/[eE]/);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const all = whole + fraction;
  let start = 0;
  while (all[start] === '0') start += 1;
  let end = all.length;
  while (end > start && all[end - 1] === '0') end -= 1;
  if (start === end) return { negative, digits: '', exponent: 0 };
  return { negative, digits: all.slice(start, end), exponent: Number(power) - fraction.length + all.length - end };
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
export function flattenAsset(record: JsonObject): { readonly row: Row; readonly drift: readonly Drift[] } {
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
