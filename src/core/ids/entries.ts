import { base58Length, isAssetId, isBase58, longestId, shortestId, type CheckedId } from '../../lib/ids/asset-id.ts';
import { IdList } from './id-list.ts';
import { utf8Text } from '../records/texts.ts';
import { type RowBlock, textOfCell } from '../records/row-block.ts';

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
function reasonOfState(state: string, text: string): string | undefined {
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

export const entryStates = ['valid', 'invalid', 'duplicate'] as const;

/** What became of one entry of the input before any call. */
export type EntryState = (typeof entryStates)[number];

/** One id as it was read. Entries are numbered by their order over all inputs: that order decides parts and rows. */
export interface IdEntry {
  /** The cleaned text: base58 of 32 bytes when valid; what stood there (at most 200 characters) when not. */
  readonly text: string;
  /** Index of the input it came from, in the order of reading. */
  readonly source: number;
  /** Line in that input, from 1 (for a JSON array the line on which the element starts; for Parquet the row). */
  readonly line: number;
  readonly state: EntryState;
  /** Why it is invalid; empty otherwise. */
  readonly reason: string;
}

/** Entries that pass through the stages together. A block is valid until the next one is requested. */
export interface EntryBlock {
  readonly entries: Entries;
  /** Four words for each valid entry, in their order: the hash of its id. */
  readonly hashes: Uint32Array;
}

/** Entries as few pieces of plain data, which can go from thread to thread. */
export interface EntryColumns {
  /** All texts in UTF-8, one after another, and where each ends. */
  readonly texts: Uint8Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
  readonly sources: Uint32Array<ArrayBuffer>;
  readonly lines: Float64Array<ArrayBuffer>;
  /** Indexes of `entryStates`. */
  readonly marks: Uint8Array<ArrayBuffer>;
  /** By the index of the entry; few have one. */
  readonly reasons: Map<number, string>;
}

const valid = entryStates.indexOf('valid');
const duplicate = entryStates.indexOf('duplicate');

/** Larger ones are left to the garbage collector. */
const mostSpareEntries = 8192;
const mostSpareBytes = mostSpareEntries * longestId;

/**
 * Entries in columns outside the heap. Those of a hundred calls wait at a time: V8 would move an object and a text for each
 * about, and collect them where they are costly to collect.
 */
export class Entries {
  #length = 0;
  #columns: EntryColumns;
  /** For `ids`. */
  #spans = new Uint32Array(0);
  readonly #spare: Entries[] | undefined;

  private constructor(columns: EntryColumns, spare?: Entries[]) {
    this.#columns = columns;
    this.#spare = spare;
  }

  /**
   * Empty ones.
   * @param capacity ids to have room for at once
   * @param spare where they go when they are released, and may come from
   */
  static take(capacity: number, spare?: Entries[]): Entries {
    return spare?.pop() ?? new Entries(newColumns(capacity, capacity * longestId), spare);
  }

  /** @param columns as `columns` gave them: they are not copied */
  static of(columns: EntryColumns): Entries {
    const entries = new Entries(columns);
    entries.#length = columns.ends.length;
    return entries;
  }

  get length(): number {
    return this.#length;
  }

  /** Bytes in memory, reasons excluded. */
  get bytes(): number {
    const { texts, ends, sources, lines, marks } = this.#columns;
    return texts.length + ends.byteLength + sources.byteLength + lines.byteLength + marks.length;
  }

  add({ text, source, line, state, reason }: IdEntry): void {
    const bytes = Buffer.from(text);
    this.#reserve(1, bytes.length);
    this.#columns.texts.set(bytes, this.#textEnd());
    if (reason !== '') this.#columns.reasons.set(this.#length, reason);
    this.#close(bytes.length, source, line, entryStates.indexOf(state));
  }

  /** Adds the id that was read last, which is valid. */
  addId(id: CheckedId, source: number, line: number): void {
    this.#reserve(1, longestId);
    this.#close(id.copyTo(this.#columns.texts, this.#textEnd()), source, line, valid);
  }

  /** Adds the entries of others from `from` up to `to`. */
  append(others: Entries, from: number, to: number): void {
    const { texts, ends, sources, lines, marks, reasons } = others.#columns;
    const start = others.#textEnd(from);
    const end = others.#textEnd(to);
    this.#reserve(to - from, end - start);
    const at = this.#length;
    const own = this.#columns;
    const shift = this.#textEnd() - start;
    own.texts.set(texts.subarray(start, end), start + shift);
    own.sources.set(sources.subarray(from, to), at);
    own.lines.set(lines.subarray(from, to), at);
    own.marks.set(marks.subarray(from, to), at);
    for (let index = from; index < to; index += 1) own.ends[at + index - from] = (ends[index] ?? 0) + shift;
    this.#length += to - from;
    if (reasons.size === 0) return;
    for (let index = from; index < to; index += 1) {
      const reason = reasons.get(index);
      if (reason !== undefined) own.reasons.set(at + index - from, reason);
    }
  }

  isValid(index: number): boolean {
    return this.#columns.marks[index] === valid;
  }

  /** How many are valid, from `from` up to `to`. */
  validBetween(from: number, to: number): number {
    let count = 0;
    for (let index = from; index < to; index += 1) if (this.isValid(index)) count += 1;
    return count;
  }

  markDuplicate(index: number): void {
    this.#columns.marks[index] = duplicate;
  }

  state(index: number): EntryState {
    return entryStates[this.#columns.marks[index] ?? 0] ?? 'valid';
  }

  source(index: number): number {
    return this.#columns.sources[index] ?? 0;
  }

  at(index: number): IdEntry {
    return {
      text: utf8Text(this.#columns.texts, this.#textEnd(index), this.#textEnd(index + 1)),
      source: this.source(index),
      line: this.#columns.lines[index] ?? 0,
      state: this.state(index),
      reason: this.#columns.reasons.get(index) ?? '',
    };
  }

  /** The ids of the valid ones, in order: good until the entries are released, or others are added. */
  ids(): IdList {
    const { texts, ends, marks } = this.#columns;
    const words = 2 * this.validBetween(0, this.#length);
    if (this.#spans.length < words) this.#spans = new Uint32Array(words);
    const spans = this.#spans;
    let to = 0;
    let start = 0;
    for (let index = 0; index < this.#length; index += 1) {
      const end = ends[index] ?? 0;
      if (marks[index] === valid) {
        spans[to++] = start;
        spans[to++] = end;
      }
      start = end;
    }
    return new IdList(texts, spans.subarray(0, words));
  }

  /** The columns themselves, with room for more behind the entries: good until these change. */
  view(): EntryColumns {
    return this.#columns;
  }

  /** A copy of those from `from` up to `to`, without room for more. */
  columns(from: number, to: number): EntryColumns {
    const copy = new Entries(newColumns(to - from, this.#textEnd(to) - this.#textEnd(from)));
    copy.append(this, from, to);
    return copy.#columns;
  }

  clear(): void {
    this.#length = 0;
    this.#columns.reasons.clear();
  }

  /** Gives them back for others: from then on neither they nor their ids may be read. */
  release(): void {
    this.clear();
    const { marks, texts } = this.#columns;
    if (marks.length <= mostSpareEntries && texts.length <= mostSpareBytes) this.#spare?.push(this);
  }

  /** Where the texts of the first so many entries end. */
  #textEnd(entries = this.#length): number {
    return entries === 0 ? 0 : (this.#columns.ends[entries - 1] ?? 0);
  }

  #close(bytes: number, source: number, line: number, mark: number): void {
    const index = this.#length;
    const { ends, sources, lines, marks } = this.#columns;
    ends[index] = this.#textEnd() + bytes;
    sources[index] = source;
    lines[index] = line;
    marks[index] = mark;
    this.#length = index + 1;
  }

  #reserve(entries: number, textBytes: number): void {
    const { texts, marks } = this.#columns;
    const needed = this.#length + entries;
    const neededBytes = this.#textEnd() + textBytes;
    if (needed <= marks.length && neededBytes <= texts.length) return;
    const larger = new Entries(
      newColumns(
        needed > marks.length ? Math.max(needed, 2 * marks.length) : marks.length,
        neededBytes > texts.length ? Math.max(neededBytes, 2 * texts.length) : texts.length,
      ),
    );
    larger.append(this, 0, this.#length);
    this.#columns = larger.#columns;
  }
}

function newColumns(entries: number, textBytes: number): EntryColumns {
  return {
    texts: new Uint8Array(textBytes),
    ends: new Uint32Array(entries),
    sources: new Uint32Array(entries),
    lines: new Float64Array(entries),
    marks: new Uint8Array(entries),
    reasons: new Map(),
  };
}

/** Reads rows of the table `ids`: entries with the names of their inputs. */
export function* storedEntries(
  rows: RowBlock,
): Generator<Omit<IdEntry, 'source'> & { readonly input: string }, void, void> {
  for (let row = 0; row < rows.rows; row += 1) {
    const cell = (column: number): string => textOfCell(rows, row * rows.width + column) ?? '';
    const [text, state] = [cell(2), cell(3)];
    yield {
      input: cell(0),
      line: Number(cell(1)),
      text,
      state: entryStates.find((each) => each === state) ?? invalidState,
      reason: reasonOfState(state, text) ?? '',
    };
  }
}
