import { type Drift, driftPath } from './drift.ts';
import { isJsonObject, type Json, type JsonObject, setMember } from '../../lib/json/json-value.ts';
import type { Cell, Column, ColumnType } from './table.ts';
import { ExactNumber } from '../../lib/json/exact-number.ts';
import { doubleOf, int64Of, uint64Of } from './fit-number.ts';
import { stringifyJson } from '../../lib/json/json.ts';

/** A row being filled, and what was odd about its record. */
export interface Sheet {
  readonly row: Cell[];
  readonly drift: Drift[];
}

/**
 * Takes a value that is not null into the row. Gives back what the row's columns cannot hold of it, for `extra`, or
 * undefined when they hold it all.
 */
export type Take = (value: Json, sheet: Sheet) => Json | undefined;

/** Most names of unknown members remembered a place; rarer ones have their path made each time. */
const maxRemembered = 256;

/** What to do with the members of the objects at one path: made once from the columns, run for each record. */
export class MemberTakers {
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
export function takeColumn(column: Column, index: number, fit: Fit = fits[column.type]): (path: string) => Take {
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
export type Fit = (value: Json) => Cell | undefined;

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
