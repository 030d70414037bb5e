import { assetsTable } from './columns.ts';
import { parseJson, isJsonObject } from '../../lib/json/json.ts';
import type { Cell, Column } from './table.ts';
import { nearestName } from '../../lib/format-text.ts';

/** Words that stand alone. */
const plainWords = ['burnt', 'immutable', 'frozen', 'delegated', 'compressed', 'fungible', 'collection'] as const;

/** Words that take a value: `interface:NAME`. */
const wordsWithValue = ['interface', 'group'] as const;

/** One word of `when`: what it asks of an asset. */
export interface WhenWord {
  readonly kind: (typeof plainWords)[number] | (typeof wordsWithValue)[number];
  /** Of `interface:NAME` and `group:ADDRESS`. */
  readonly value: string;
  readonly isNegated: boolean;
}

/** @param text a word that `whenProblem` found nothing wrong with */
function whenWordOf(text: string): WhenWord {
  const isNegated = text.startsWith('!');
  const word = isNegated ? text.slice(1) : text;
  const colon = word.indexOf(':');
  const kind = colon < 0 ? word : word.slice(0, colon);
  return { kind: kind as WhenWord['kind'], value: colon < 0 ? '' : word.slice(colon + 1), isNegated };
}

/** What is wrong with a word of `when`; undefined when nothing is. */
export function whenProblem(text: string): string | undefined {
  const { kind, value } = whenWordOf(text);
  const takesValue = wordsWithValue.some((name) => name === kind);
  if (takesValue) return value === '' ? `must name one after the colon: ${kind}:NAME` : undefined;
  if (plainWords.some((name) => name === kind) && !text.includes(':')) return undefined;
  const all = [...plainWords, ...wordsWithValue.map((name) => `${name}:`)];
  const near = nearestName(kind, all);
  return `must be one of ${all.join(', ')}${near === undefined ? '' : `; did you mean ${near}?`}`;
}

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
