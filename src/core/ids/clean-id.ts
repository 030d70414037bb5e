import { base58Length, isAssetId, isBase58, longestId, shortestId } from '../../lib/ids/asset-id.ts';

/** Zero-width and bidirectional control characters: invisible, and brought along by copying from web pages and chats. */
const invisible = /[\u00AD\u061C\u180E\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/g;

/** What stands around an id: blanks, quotes of every kind, and the comma of a list that an id was copied from. */
const quotes = '"\'`\u00AB\u00BB\u2018-\u201F\u2032\u2033\u2039\u203A\uFF02\uFF07';
const before = new RegExp(`[\\s\\u0085\\u2800${quotes}]`);
const after = new RegExp(`[\\s\\u0085\\u2800,;${quotes}]`);

/** Longest text of an invalid id that is kept, in UTF-16 units. */
const longestText = 200;

/**
 * Takes away what surrounds an id: blanks, BOM, quotes, CR, the = before a quoted cell, and invisible characters anywhere. Commas and semicolons at
 * the end go too: no id holds one, and lists are pasted from arrays and spreadsheets.
 */
export function cleanId(text: string): string {
  const visible = text.replace(invisible, '');
  let start = 0;
  let end = visible.length;
  // A spreadsheet keeps an id as text in a cell of ="…".
  if (visible.startsWith('="')) start = 2;
  // Two loops rather than a pattern with `+$`, which takes quadratic time on a line full of blanks.
  while (start < end && before.test(visible.charAt(start))) start += 1;
  while (end > start && after.test(visible.charAt(end - 1))) end -= 1;
  return visible.slice(start, end);
}

/** True when a text is an id, or becomes one when what surrounds it is taken away. */
export function holdsId(text: string): boolean {
  return text.length >= shortestId && (isAssetId(text) || isAssetId(cleanId(text)));
}

/** The beginning of a text, well-formed: what the unexported table shows of an id that is none. */
export function shortText(text: string): string {
  const short = text.slice(0, longestText);
  const halfAtEnd = short.length < text.length && /[\uD800-\uDBFF]$/.test(short);
  return (halfAtEnd ? short.slice(0, -1) : short).replace(/\p{Surrogate}/gu, '\uFFFD');
}

/** The texts between blanks and separators: to see whether several ids stand together. */
export function wordsOf(text: string): string[] {
  return text.split(/[\s,;|"'\u0085]+/u).filter((word) => word !== '');
}

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

const reasonBefore = `${invalidState}: `;

/** The state of an invalid entry, with its reason where that does not follow from the text that is kept of it. */
export function stateOfInvalid(text: string, reason: string): string {
  return reason === whyInvalid(text) ? invalidState : `${reasonBefore}${reason}`;
}

/** The reason of an invalid entry by its state; undefined for the state of an id. */
export function reasonOfState(state: string, text: string): string | undefined {
  if (state === invalidState) return whyInvalid(text);
  return state.startsWith(reasonBefore) ? state.slice(reasonBefore.length) : undefined;
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
