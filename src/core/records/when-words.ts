import { nearestName } from '../../lib/nearest-name.ts';

/** Words that stand alone. */
export const plainWords = [
  'burnt',
  'immutable',
  'frozen',
  'delegated',
  'compressed',
  'fungible',
  'collection',
] as const;

export type PlainWord = (typeof plainWords)[number];

/** Words that take a value: `interface:NAME`. */
const wordsWithValue = ['interface', 'group'] as const;

/** One word of `when`: what it asks of an asset. */
export interface WhenWord {
  readonly kind: PlainWord | (typeof wordsWithValue)[number];
  /** Of `interface:NAME` and `group:ADDRESS`. */
  readonly value: string;
  readonly isNegated: boolean;
}

/** @param text a word that `whenProblem` found nothing wrong with */
export function whenWordOf(text: string): WhenWord {
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
