import { assetsTable, attributesTable, collectionsTable, groupingTable, tables } from '../columns.ts';
import { type Drift, driftPath } from '../drift.ts';
import type { RowBlockBuilder } from '../row-block.ts';
import type { RecordBounds } from './record-bounds.ts';
import { type WordedBytes, wordedBytes } from '../../../lib/scan/four-bytes.ts';
import type { Column, ColumnType, Table } from '../table.ts';

/** What is done with the value of a member. */
export type MemberKind =
  | Exclude<ColumnType, 'timestamp'>
  /** A list that is a json column, and whose elements are rows of a child table. */
  | 'list'
  /** The value of a trait: its text, whatever it is, and what it was. */
  | 'trait'
  /** An object whose members have columns. */
  | 'branch'
  /** The member that `Table.where` compares: every row of the table has the same. */
  | 'implied'
  /** What has no column: it goes to `extra`. */
  | 'unknown';

/** What came behind a member, or first in an object: the last time, and the last time that it was another. */
export interface Follow {
  next: Member | undefined;
  other: Member | undefined;
}

/** A member that objects at one path may have. */
export interface Member extends Follow {
  /** The bytes of `"name":`. */
  readonly key: Uint8Array;
  /** The same to be compared with; undefined for the empty name, which is too short. */
  readonly words: WordedBytes | undefined;
  readonly kind: MemberKind;
  /** Its column's place in the row; -1 where it has none. */
  readonly column: number;
  /** The members of a branch. */
  readonly branch: ObjectPlan | undefined;
  /** The elements of a list. */
  readonly list: ListPlan | undefined;
  /** The values that the specification names, as JSON text. */
  readonly values: readonly Buffer[] | undefined;
  /** The one of them that was met last. */
  value: Uint8Array | undefined;
  /** What to count when it is there though it has no column, or when its value is not among `values`. */
  readonly drift: Drift;
  /** The object in which it was met last, by number. */
  seen: number;
}

/** The members of the objects at one path. It learns their order, and names that have no column, from the records. */
export class ObjectPlan implements Follow {
  readonly path: string;
  /** The first members, whose names are compared with what comes: that takes less than making a text of it. */
  readonly compared: Member[] = [];
  readonly #byName = new Map<string, Member>();
  #unknowns = 0;
  next: Member | undefined;
  other: Member | undefined;
  /** How many objects were read by it. */
  objects = 0;

  constructor(path: string) {
    this.path = path;
  }

  member(name: string): Member | undefined {
    return this.#byName.get(name);
  }

  /** Remembers a name that has no column; undefined when there are too many, so that no service can fill the memory. */
  learn(name: string): Member | undefined {
    if (this.#unknowns >= maxUnknowns) return undefined;
    this.#unknowns += 1;
    return this.#add(name, {
      kind: 'unknown',
      column: -1,
      drift: { path: driftPath(this.path, name), kind: 'unknownField' },
    });
  }

  /** Has a column at a place of the row filled from the member at the rest of its path. @param list the elements of its list */
  addColumn(path: readonly string[], column: Column, place: number, list?: ListPlan): void {
    const [name, ...rest] = path;
    if (name === undefined) return;
    const memberPath = driftPath(this.path, name);
    if (rest.length > 0) {
      const known = this.#byName.get(name);
      const branch = known?.branch ?? new ObjectPlan(memberPath);
      if (known === undefined) this.#add(name, { kind: 'branch', column: -1, branch });
      branch.addColumn(rest, column, place, list);
      return;
    }
    const values = column.values?.map((value) => Buffer.from(JSON.stringify(value)));
    const drift: Drift = { path: memberPath, kind: 'unknownValue' };
    this.#add(name, {
      kind: list === undefined ? kindOf(column) : 'list',
      column: place,
      list,
      values,
      drift,
    });
  }

  /** Has the member taken that says whether an object is a row of the table. */
  addImplied(name: string): void {
    this.#add(name, { kind: 'implied', column: -1 });
  }

  #add(name: string, member: Pick<Member, 'kind' | 'column'> & Partial<Member>): Member {
    const key = Buffer.from(`${JSON.stringify(name)}:`);
    const added: Member = {
      branch: undefined,
      list: undefined,
      values: undefined,
      value: undefined,
      drift: { path: this.path, kind: 'misfit' },
      ...member,
      key,
      words: key.length < 4 ? undefined : wordedBytes(key),
      next: undefined,
      other: undefined,
      seen: -1,
    };
    this.#byName.set(name, added);
    if (this.compared.length < mostCompared) this.compared.push(added);
    return added;
  }
}

/** Most members that a name is compared with. */
const mostCompared = 32;

/** Most names without a column that are remembered a path; an object with others is read the long way. */
const maxUnknowns = 256;

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

/** Where the rows of a record go: to `assets`, and to each child table by its place in `childTables`. */
export interface RecordTarget {
  readonly assets: RowBlockBuilder;
  readonly children: readonly RowBlockBuilder[];
  /** How records, and the elements of each list, differ from the specification, in the order in which that was met. */
  readonly drifts: Drift[];
  readonly childDrifts: readonly Drift[][];
  readonly bounds: RecordBounds;
}

/** How records become rows. What it learns of their members makes it faster, and no row other. */
export interface RecordPlan {
  readonly root: ObjectPlan;
  /** The child tables whose rows are made. */
  readonly children: readonly Table[];
  /** Memory of answers whose rows are written, for others. */
  readonly spare: RecordTarget[];
}

export function recordPlan(children: readonly Table[]): RecordPlan {
  const root = new ObjectPlan('');
  // Of the groups one is a column of `assets`.
  const lists = [...children, groupingTable];
  for (const [place, column] of assetsTable.columns.entries())
    root.addColumn(column.path, column, place, listPlanOf(column, lists));
  return { root, children, spare: [] };
}

function listPlanOf({ path }: Column, lists: readonly Table[]): ListPlan | undefined {
  const ofList = lists.filter(({ list }) => list?.join('\0') === path.join('\0'));
  const table = ofList.find(({ where }) => where === undefined);
  if (table === undefined) return undefined;
  const collections = ofList.includes(collectionsTable) ? elementsPlan(collectionsTable) : undefined;
  return { ...elementsPlan(table), collections };
}

function elementsPlan(table: Table): ListPlan {
  const { list = [], where } = table;
  const element = new ObjectPlan(`${list.reduce(driftPath, '')}[]`);
  if (where !== undefined) element.addImplied(where.member);
  for (const [place, column] of table.columns.entries()) element.addColumn(column.path, column, place);
  const places = {
    position: placeOf(table, 'position'),
    extra: placeOf(table, 'extra'),
    groupKey: placeOf(table, 'group_key'),
    groupValue: placeOf(table, 'group_value'),
  };
  return { index: childTables.indexOf(table), element, places, collections: undefined };
}

const traitValue = attributesTable.columns.find(({ name }) => name === 'value');

function kindOf(column: Column): MemberKind {
  if (column === traitValue) return 'trait';
  // No member of a record is a timestamp: that column is derived.
  return column.type === 'timestamp' ? 'unknown' : column.type;
}

function placeOf(table: Table, name: string): number {
  return table.columns.findIndex((column) => column.name === name);
}
