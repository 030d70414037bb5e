import { GrowingBytes, fixedTexts, type Words, BlockText, type FixedTexts } from '../core/formats/growing-bytes.ts';
import { closingQuote, jsonEnd } from '../lib/scan/json-scanner.ts';
import { cellsOf, type RowBlock, textMarks } from '../core/records/row-block.ts';
import { assetsTable, tables } from '../core/records/columns.ts';
import { holdsAt } from '../core/records/texts.ts';
import { stringifyJson } from '../lib/json/json.ts';
import { rebuildAsset } from './records.ts';
import { type Column, isIdColumn } from '../core/records/table.ts';
import { closeBrace, colon, comma, openBrace, quote } from '../lib/ascii.ts';

/** Bytes of an escape, at most: `\u0001`. */
const maxEscapeBytes = 6;

/** What stands for each byte inside a JSON string, empty where the byte itself does. RFC 8259, section 7. */
const jsonEscapes = fixedTexts(
  Array.from({ length: 256 }, (_, byte) => {
    const character = String.fromCharCode(byte);
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? '' : escaped;
  }),
);

/** Whether a byte has an escape. */
const isEscaped = Uint8Array.from({ length: 256 }, (_, byte) => {
  return jsonEscapes.starts[byte] === jsonEscapes.starts[byte + 1] ? 0 : 1;
});

/** Adds a text as it stands inside a JSON string. */
function addEscaped(target: GrowingBytes, words: Words, start: number, length: number): void {
  const end = start + length;
  let from = start;
  for (let at = start; at < end; at += 1) {
    const byte = words.bytes[at] ?? 0;
    if (isEscaped[byte] === 0) continue;
    target.copy(words, from, at - from);
    target.fixed(jsonEscapes, byte);
    from = at + 1;
  }
  target.copy(words, from, end - from);
}

/** Memory that is kept from one record to the next. */
const keptBytes = 1 << 20;

const open = openBrace;
const close = closeBrace;

/** A member of a rebuilt record: a column's value, or an object of such members. */
interface Member {
  /** `"name":`. */
  readonly key: FixedTexts;
  readonly keyBytes: Uint8Array;
  /** Its columns: one, or those of all members within. */
  readonly first: number;
  end: number;
  readonly isString: boolean;
  /** Of an object. */
  readonly members: Member[];
}

/** Upper bound on the bytes of a record besides the texts of its cells. */
const besideTexts = assetsTable.columns.reduce((sum, { path }) => sum + path.join('":{"').length + 16, 16);

const extraAt = assetsTable.columns.findIndex(({ name }) => name === 'extra');

const root: readonly Member[] = memberTree(() => true);

/** Records that hold no more than some columns. */
const fewMembers = {
  id: memberTree((column) => isIdColumn(column)),
  /** And the lists whose elements are rows of child tables. */
  lists: memberTree((column) => isIdColumn(column) || isListOfTable(column)),
} as const;

function isListOfTable({ type, path }: Column): boolean {
  return type === 'json' && tables.some(({ list }) => list?.join('\0') === path.join('\0'));
}

/** Makes records of whole rows of `assets`, byte for byte as `rebuildAsset` does, without making values of their cells. */
export class RecordTexts {
  readonly #bytes = new GrowingBytes(keptBytes);
  readonly #block: RowBlock;
  readonly #text: BlockText;

  constructor(block: RowBlock) {
    this.#block = block;
    this.#text = new BlockText(block, assetsTable.columns.length);
  }

  /** The record of a row, as JSON. */
  of(row: number): Buffer {
    const first = row * this.#text.width;
    this.#bytes.clear();
    this.#bytes.reserve(maxEscapeBytes * this.#text.rowBytes(row) + besideTexts);
    const isMade = this.#addObject(root, first, this.#extraOf(first));
    return Buffer.from(isMade ? this.#bytes.bytes : this.#longWay(row));
  }

  /** The record of a row with few of its members, good until the next is made. */
  few(row: number, which: keyof typeof fewMembers): Uint8Array {
    this.#bytes.clear();
    this.#bytes.reserve(maxEscapeBytes * this.#text.rowBytes(row) + besideTexts);
    this.#addObject(fewMembers[which], row * this.#text.width, undefined);
    return this.#bytes.bytes;
  }

  #longWay(row: number): string {
    return stringifyJson(rebuildAsset(cellsOf(this.#block, row, assetsTable.columns)));
  }

  #extraOf(first: number): Extra | undefined {
    const cell = first + extraAt;
    return (this.#text.length[cell] ?? -1) < 0
      ? undefined
      : { bytes: this.#text.words(cell).bytes, start: this.#text.start(cell) };
  }

  /**
   * Adds an object: what no column could hold comes first, as `rebuildAsset` has it.
   * @returns false when what is left over does not fit to the columns: the long way decides then
   */
  #addObject(members: readonly Member[], first: number, extra: Extra | undefined): boolean {
    const bytes = this.#bytes;
    bytes.byte(open);
    const begin = bytes.used;
    const within: Member[] = [];
    if (extra !== undefined && !this.#addExtra(members, first, extra, within)) return false;
    for (const member of members) {
      if (within.includes(member) || !this.#hasCells(member, first)) continue;
      if (bytes.used > begin) bytes.byte(comma);
      bytes.fixed(member.key, 0);
      if (member.members.length === 0) this.#addCell(first + member.first, member.isString);
      else if (!this.#addObject(member.members, first, undefined)) return false;
    }
    bytes.byte(close);
    return true;
  }

  /**
   * Adds the members of what is left over, and within them the columns that belong there.
   * @param within gets the members that were added with it
   */
  #addExtra(members: readonly Member[], first: number, { bytes: from, start }: Extra, within: Member[]): boolean {
    const bytes = this.#bytes;
    if (from[start] !== open) return false;
    let at = start + 1;
    if (from[at] === close) return true;
    for (;;) {
      const keyEnd = closingQuote(from, at + 1) + 1;
      if (from[at] !== quote || from[keyEnd] !== colon) return false;
      const end = jsonEnd(from, keyEnd + 1);
      if (end < 0) return false;
      const member = members.find(({ keyBytes }) => {
        return keyBytes.length === keyEnd + 1 - at && holdsAt(from, at, keyBytes);
      });
      if (at > start + 1) bytes.byte(comma);
      if (member === undefined || !this.#hasCells(member, first)) bytes.add(from.subarray(at, end));
      else {
        if (member.members.length === 0) return false;
        bytes.fixed(member.key, 0);
        if (!this.#addObject(member.members, first, { bytes: from, start: keyEnd + 1 })) return false;
        within.push(member);
      }
      if (from[end] === close) return true;
      if (from[end] !== comma) return false;
      at = end + 1;
    }
  }

  #hasCells({ first: from, end }: Member, first: number): boolean {
    const { length } = this.#text;
    for (let cell = first + from; cell < first + end; cell += 1) if ((length[cell] ?? -1) >= 0) return true;
    return false;
  }

  #addCell(cell: number, isString: boolean): void {
    const bytes = this.#bytes;
    const text = this.#text;
    const words = text.words(cell);
    const start = text.start(cell);
    const length = text.length[cell] ?? 0;
    if (!isString) {
      bytes.copy(words, start, length);
      return;
    }
    bytes.byte(quote);
    if (((text.marks[cell] ?? 0) & textMarks.escapes) === 0) bytes.copy(words, start, length);
    else addEscaped(bytes, words, start, length);
    bytes.byte(quote);
  }
}

/** JSON of an object, where it begins. */
interface Extra {
  readonly bytes: Uint8Array;
  readonly start: number;
}

/** The columns by their paths. Those of one object stand next to one another. */
function memberTree(isWanted: (column: Column) => boolean): Member[] {
  const tree: Member[] = [];
  for (const [index, column] of assetsTable.columns.entries()) {
    if (!isWanted(column)) continue;
    let members = tree;
    for (const [depth, name] of column.path.entries()) {
      const last = members.at(-1);
      const isLeaf = depth === column.path.length - 1;
      const keyBytes = Buffer.from(`${JSON.stringify(name)}:`);
      const isSame = !isLeaf && last !== undefined && keyBytes.equals(last.keyBytes);
      const member = isSame ? last : memberAt(keyBytes, column, index);
      if (!isSame) members.push(member);
      member.end = index + 1;
      members = member.members;
    }
  }
  return tree;
}

function memberAt(keyBytes: Buffer, { type }: Column, first: number): Member {
  const key = fixedTexts([keyBytes.toString()]);
  return { key, keyBytes, first, end: first + 1, isString: type === 'string', members: [] };
}
