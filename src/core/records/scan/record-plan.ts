import { assetsTable, attributesTable, collectionsTable, groupingTable, tables } from '../columns.ts';
import { type Drift, driftPath } from '../drift.ts';
import type { Column, ColumnType, Table } from '../table.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../lib/json/json.ts';
import { mostKeyBytes } from '../../../lib/kernel/slots.ts';

/** What is done with the value of a member. The kernel knows them by their place (kernel/plan.ts). */
export const memberKinds = [
  'string',
  'boolean',
  'int64',
  'decimal',
  'double',
  'json',
  /** The value of a trait: its text, whatever it is, and what it was. */
  'trait',
  /** A list that is a json column, and whose elements are rows of a child table. */
  'list',
  /** An object whose members have columns. */
  'branch',
  /** The member that `Table.where` compares: every row of the table has the same. */
  'implied',
  /** What has no column: it goes to `extra`. */
  'unknown',
] as const;

type MemberKind = (typeof memberKinds)[number];

/** A member that objects at one path may have. */
export interface Member {
  /** The bytes of `"name":`. */
  readonly key: Uint8Array;
  readonly kind: MemberKind;
  /** Its column's place in the row; 0 where it has none. */
  readonly column: number;
  /** The members of a branch. */
  readonly branch?: ObjectPlan | undefined;
  /** The elements of a list. */
  readonly list?: ListPlan | undefined;
  /** The values that the specification names. */
  readonly values?: readonly Buffer[] | undefined;
  /** What to count when it is there though it has no column, or when its value is not among `values`: its place among `RecordPlan.drifts`. */
  readonly drift: number;
}

/** How a record, or an element of a list, differs from the specification. */
export interface TableDrift {
  /** The place of the child table; -1 for `assets`. */
  readonly table: number;
  readonly drift: Drift;
}

/** Most names without a column that are remembered a path; an object with others is read the long way. */
const maxUnknowns = 256;

/** The members of the objects at one path. It learns names that have no column from the records. */
export class ObjectPlan {
  readonly #path: string;
  readonly #table: number;
  readonly #drifts: TableDrift[];
  readonly members = new Map<string, Member>();
  #unknowns = 0;

  /** @param table the place of the child table; -1 for `assets` */
  constructor(path: string, table: number, drifts: TableDrift[]) {
    this.#path = path;
    this.#table = table;
    this.#drifts = drifts;
  }

  /** Has a column at a place of the row filled from the member at the rest of its path. @param list the elements of its list */
  addColumn(path: readonly string[], column: Column, place: number, list?: ListPlan): void {
    const [name, ...rest] = path;
    if (name === undefined) return;
    const memberPath = driftPath(this.#path, name);
    if (rest.length > 0) {
      const branch = this.members.get(name)?.branch ?? new ObjectPlan(memberPath, this.#table, this.#drifts);
      if (!this.members.has(name)) this.#add(name, { kind: 'branch', branch }, 'misfit');
      branch.addColumn(rest, column, place, list);
      return;
    }
    const values = column.values?.map((value) => Buffer.from(value));
    const kind = list === undefined ? kindOf(column) : 'list';
    this.#add(name, { kind, column: place, list, values }, 'unknownValue');
  }

  /** Has the member taken that says whether an object is a row of the table. */
  addImplied(name: string): void {
    this.#add(name, { kind: 'implied' }, 'misfit');
  }

  /** Remembers the names of an object, and of those within, that have no column. True when there were new ones. */
  learn(object: JsonObject): boolean {
    let isNew = false;
    for (const name of Object.keys(object)) {
      const member = this.members.get(name);
      if (member === undefined) isNew = this.#learnName(name) || isNew;
      else if (learnsWithin(member, object[name] ?? null)) isNew = true;
    }
    return isNew;
  }

  // There is an end to it, so that no service can fill the memory.
  #learnName(name: string): boolean {
    // JavaScript puts names like 7 before others, and so does what is printed of its objects.
    if (this.#unknowns >= maxUnknowns || /^\d/.test(name) || keyOf(name).length > mostKeyBytes) return false;
    this.#unknowns += 1;
    this.#add(name, { kind: 'unknown' }, 'unknownField');
    return true;
  }

  #add(name: string, member: Pick<Member, 'kind'> & Partial<Member>, kind: Drift['kind']): void {
    const drift: Drift = { path: driftPath(this.#path, name), kind };
    this.members.set(name, { column: 0, ...member, key: keyOf(name), drift: this.#drifts.length });
    this.#drifts.push({ table: this.#table, drift });
  }
}

function keyOf(name: string): Uint8Array {
  return Buffer.from(`${JSON.stringify(name)}:`);
}

function learnsWithin({ branch, list }: Member, value: Json): boolean {
  if (branch !== undefined) return isJsonObject(value) && branch.learn(value);
  if (list === undefined || !Array.isArray(value)) return false;
  let isNew = false;
  for (const element of value) {
    if (!isJsonObject(element)) continue;
    isNew = list.element.learn(element) || isNew;
    isNew = (list.collections?.element.learn(element) ?? false) || isNew;
  }
  return isNew;
}

/** The elements of a list: rows of a child table. */
export interface ListPlan {
  /** The table's place among the child tables. */
  readonly index: number;
  readonly element: ObjectPlan;
  readonly places: {
    readonly position: number;
    readonly extra: number;
    readonly groupKey: number;
    readonly groupValue: number;
  };
  /** The same elements as `collections` has them: of the groups, and where those rows are wanted. */
  readonly collections: ListPlan | undefined;
}

/** Every table but `assets`, in order. */
export const childTables: readonly Table[] = tables.filter((table) => table !== assetsTable);

export const assetPlaces = {
  id: placeOf(assetsTable, 'id'),
  interface: placeOf(assetsTable, 'interface'),
  collection: placeOf(assetsTable, 'collection'),
  extra: placeOf(assetsTable, 'extra'),
} as const;

/** How records become rows. What it learns of their members makes it faster, and no row other. */
export interface RecordPlan {
  readonly root: ObjectPlan;
  /** The child tables whose rows are made. */
  readonly children: readonly Table[];
  /** What differs from the specification where a member says so, by its number. */
  readonly drifts: readonly TableDrift[];
}

export function recordPlan(children: readonly Table[]): RecordPlan {
  const drifts: TableDrift[] = [];
  const root = new ObjectPlan('', -1, drifts);
  // Of the groups one is a column of `assets`.
  const lists = [...children, groupingTable];
  for (const [place, column] of assetsTable.columns.entries())
    root.addColumn(column.path, column, place, listPlanOf(column, lists, drifts));
  return { root, children, drifts };
}

function listPlanOf({ path }: Column, lists: readonly Table[], drifts: TableDrift[]): ListPlan | undefined {
  const ofList = lists.filter(({ list }) => list?.join('\0') === path.join('\0'));
  const table = ofList.find(({ where }) => where === undefined);
  if (table === undefined) return undefined;
  const collections = ofList.includes(collectionsTable) ? elementsPlan(collectionsTable, drifts) : undefined;
  return { ...elementsPlan(table, drifts), collections };
}

function elementsPlan(table: Table, drifts: TableDrift[]): ListPlan {
  const { list = [], where } = table;
  const index = childTables.indexOf(table);
  const element = new ObjectPlan(`${list.reduce(driftPath, '')}[]`, index, drifts);
  if (where !== undefined) element.addImplied(where.member);
  for (const [place, column] of table.columns.entries()) element.addColumn(column.path, column, place);
  const places = {
    position: placeOf(table, 'position'),
    extra: placeOf(table, 'extra'),
    groupKey: placeOf(table, 'group_key'),
    groupValue: placeOf(table, 'group_value'),
  };
  return { index, element, places, collections: undefined };
}

const traitValue = attributesTable.columns.find(({ name }) => name === 'value');

const kindOfType: Readonly<Record<ColumnType, MemberKind>> = {
  string: 'string',
  boolean: 'boolean',
  int64: 'int64',
  double: 'double',
  decimal: 'decimal',
  json: 'json',
  // No member of a record is a timestamp: that column is derived.
  timestamp: 'unknown',
};

function kindOf(column: Column): MemberKind {
  return column === traitValue ? 'trait' : kindOfType[column.type];
}

function placeOf(table: Table, name: string): number {
  return table.columns.findIndex((column) => column.name === name);
}
