import { assetsTable } from './columns.ts';
import { parseJson } from '../../lib/json/json.ts';
import { isJsonObject } from '../../lib/json/json-value.ts';
import type { Cell, Column } from './table.ts';
import { type WhenWord, whenWordOf } from './when-words.ts';

/** Tells of which class an asset is. */
export interface AssetClassifier {
  /** Columns of `assets` that the words look at. */
  readonly columns: readonly Column[];
  /** The index of the first class whose words all fit; the number of classes where none does. @param cells those of `columns` */
  classOf(cells: readonly Cell[]): number;
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

/** @param classes the words of each class; all must fit */
export function classifyAssets(classes: readonly (readonly string[])[]): AssetClassifier {
  const words = classes.map((when) => when.map(whenWordOf));
  const names = new Set(words.flat().flatMap(({ kind }) => columnsOfWord[kind]));
  const columns = assetsTable.columns.filter(({ name }) => names.has(name));
  const placeOf = new Map(columns.map(({ name }, place) => [name, place]));
  return {
    columns,
    classOf: (cells) => {
      const cell = (name: string): Cell => cells[placeOf.get(name) ?? -1] ?? null;
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
