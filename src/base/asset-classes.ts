import type { Base } from '../job/base-schema.ts';
import { type WhenWord, whenWordOf } from '../job/when-words.ts';
import { assetsTable } from '../records/columns.ts';
import { parseJson } from '../records/json/json.ts';
import { isJsonObject } from '../records/json/json-value.ts';
import type { Cell, Column } from '../records/table.ts';
import { type MaxAge, maxAgeOf } from './ages.ts';

/** Assets that may be carried over for the same time. */
export interface AssetClass {
  /** The words of the job; none for the assets that no class of the job fits. */
  readonly when: readonly string[];
  readonly maxAge: MaxAge;
}

/** The classes of a job, and which columns decide between them. */
export interface AssetClasses {
  /** The last one takes what fits no other. */
  readonly all: readonly AssetClass[];
  /** Columns of `assets` that the words look at. */
  readonly columns: readonly Column[];
  /** The index of the class of an asset. @param cells those of `columns`, from `first` on */
  classOf(cells: readonly Cell[], first: number): number;
}

const columnsOfWord: Readonly<Record<WhenWord['kind'], readonly string[]>> = {
  burnt: ['burnt'],
  immutable: ['mutable'],
  frozen: ['ownership_frozen'],
  delegated: ['ownership_delegated'],
  compressed: ['compression_compressed'],
  fungible: ['interface', 'token_info_supply'],
  collection: ['interface'],
  interface: ['interface'],
  group: ['grouping'],
};

export function assetClasses({ classes, maxAge }: Pick<Base, 'classes' | 'maxAge'>): AssetClasses {
  const words = classes.map(({ when }) => when.map(whenWordOf));
  const names = new Set(words.flat().flatMap(({ kind }) => columnsOfWord[kind]));
  const columns = assetsTable.columns.filter(({ name }) => names.has(name));
  const placeOf = new Map(columns.map(({ name }, place) => [name, place]));
  return {
    all: [
      ...classes.map((each) => ({ when: each.when, maxAge: maxAgeOf(each.maxAge) })),
      { when: [], maxAge: maxAgeOf(maxAge) },
    ],
    columns,
    classOf: (cells, first) => {
      const cell = (name: string): Cell => cells[first + (placeOf.get(name) ?? -1)] ?? null;
      const at = words.findIndex((each) => each.every((word) => fits(word, cell) !== word.isNegated));
      return at < 0 ? words.length : at;
    },
  };
}

function fits({ kind, value }: WhenWord, cell: (name: string) => Cell): boolean {
  switch (kind) {
    case 'burnt':
      return cell('burnt') === true;
    case 'immutable':
      return cell('mutable') === false;
    case 'frozen':
      return cell('ownership_frozen') === true;
    case 'delegated':
      return cell('ownership_delegated') === true;
    case 'compressed':
      return cell('compression_compressed') === true;
    case 'fungible':
      return text(cell('interface')).startsWith('Fungible') || cell('token_info_supply') !== null;
    case 'collection':
      return /(Collection|Group)$/.test(text(cell('interface')));
    case 'interface':
      return cell('interface') === value;
    case 'group':
      return text(cell('grouping')).includes(value) && isInGroup(text(cell('grouping')), value);
  }
}

function isInGroup(grouping: string, address: string): boolean {
  const groups = parseJson(grouping);
  return Array.isArray(groups) && groups.some((each) => isJsonObject(each) && each.group_value === address);
}

function text(cell: Cell): string {
  return typeof cell === 'string' ? cell : '';
}
