import { base58Length, isAssetId, isBase58, longestId } from '../../lib/ids/asset-id.ts';
import { wordsOf } from './clean-id.ts';

/** Longest text whose bytes are counted: the count takes time by the square of the length. */
const countable = 200;

/** Why a cleaned text is not an asset id, in words that help to repair it. */
export function whyInvalid(text: string): string {
  if (text === '') return 'empty';
  if (text.includes('\uFFFD')) return 'bytes that are not UTF-8';
  if (/^[[{]/.test(text)) return 'JSON where an id was expected: is the format json or jsonl?';
  const words = wordsOf(text.slice(0, 4096));
  const ids = words.filter((word) => isAssetId(word)).length;
  if (ids > 1) return 'two ids in one value?';
  if (ids === 1 && words.length > 1) return 'an id and more text: is the format csv?';
  const odd = firstOdd(text);
  if (odd !== undefined) return odd;
  if (text.length > countable) return `${text.length} characters, but an id has at most ${longestId}`;
  const bytes = base58Length(text);
  return `${bytes} bytes, not 32${bytes === 64 ? ': a transaction signature?' : ''}`;
}

/** The state of an entry that is no id. */
export const invalidState = 'invalid';

const before = `${invalidState}: `;

/** The state of an invalid entry, with its reason where that does not follow from the text that is kept of it. */
export function stateOfInvalid(text: string, reason: string): string {
  return reason === whyInvalid(text) ? invalidState : `${before}${reason}`;
}

/** The reason of an invalid entry by its state; undefined for the state of an id. */
export function reasonOfState(state: string, text: string): string | undefined {
  if (state === invalidState) return whyInvalid(text);
  return state.startsWith(before) ? state.slice(before.length) : undefined;
}

/** Names the first character that base58 lacks, with its place from 1. */
function firstOdd(text: string): string | undefined {
  let column = 1;
  for (const character of text) {
    if (!isBase58(character)) return `${show(character)} is not a base58 character (column ${column})`;
    column += 1;
  }
  return undefined;
}

/** A look-alike or a control character is shown by its number. */
function show(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const number = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
  if (code > 32 && code < 127) return `"${character}"`;
  return /[\p{L}\p{N}\p{S}]/u.test(character) ? `"${character}" (${number})` : number;
}
