import type { Drift } from '../drift.ts';
import { numberOf, numberText } from '../../../lib/json/exact-number.ts';
import { doubleOf, int64Of, uint64Of } from '../fit-number.ts';
import { holdsAt, utf8Text } from '../text-bytes.ts';
import { parseJson, stringifyJson } from '../../../lib/json/json.ts';
import { type RowBlockBuilder, textMarks } from '../row-block.ts';
import { type Constant, traitTypes } from './constants.ts';
import { countValues, mostValues } from '../../../lib/scan/json-end.ts';
import type { ExtraText } from './extra-text.ts';
import type { JsonScanner } from '../../../lib/scan/json-scanner.ts';
import type { Member, MemberKind } from './record-plan.ts';
import { lowerF, lowerT, minus, openBrace, openBracket, quote } from '../../../lib/ascii.ts';

/** Marks of JSON text with a string or a comma in it. */
export const jsonMarks = textMarks.separators | textMarks.escapes;

/** Fills cells with the values that come next. Each method says whether its cell can hold the value as it stands there. */
export class CellScanner {
  readonly #json: JsonScanner;

  constructor(json: JsonScanner) {
    this.#json = json;
  }

  boolean(rows: RowBlockBuilder, cell: number): boolean {
    const json = this.#json;
    const start = json.at;
    const byte = json.bytes[start];
    if ((byte !== lowerT && byte !== lowerF) || !json.literal()) return false;
    rows.setSpan(cell, start, json.at - start);
    return true;
  }

  /** A string; one that is not among the member's values is counted as drift. */
  string(member: Member, { rows, drifts }: { rows: RowBlockBuilder; drifts: Drift[] }, cell: number): boolean {
    const json = this.#json;
    const start = json.at;
    if (!json.string()) return false;
    this.#stringCell(rows, cell, start);
    const { values } = member;
    if (values !== undefined && !this.#isKnown(member, values, start)) drifts.push(member.drift);
    return true;
  }

  #stringCell(rows: RowBlockBuilder, cell: number, start: number): void {
    const json = this.#json;
    if (json.oddlyEscaped) json.reprint = true;
    if (json.escaped) {
      rows.setText(cell, JSON.parse(this.text(start, json.at)) as string, true);
    } else {
      rows.setSpan(cell, start + 1, json.at - start - 2);
      rows.marks[cell] = json.marks;
    }
  }

  #isKnown(member: Member, values: readonly Buffer[], start: number): boolean {
    const { at, escaped } = this.#json;
    if (escaped) {
      const text = JSON.stringify(JSON.parse(this.text(start, at)));
      return values.some((value) => value.toString() === text);
    }
    if (member.value !== undefined && this.#endsHere(start, member.value)) return true;
    for (const value of values) {
      if (!this.#endsHere(start, value)) continue;
      member.value = value;
      return true;
    }
    return false;
  }

  /** Whether this text is what was taken from `start` on. */
  #endsHere(start: number, text: Uint8Array): boolean {
    const { bytes, at } = this.#json;
    return at - start === text.length && holdsAt(bytes, start, text);
  }

  number({ kind }: Member, rows: RowBlockBuilder, cell: number): boolean {
    const json = this.#json;
    const start = json.at;
    if (!json.number()) return false;
    const { digits, at } = json;
    rows.setSpan(cell, start, at - start);
    // The longest that always fit: 18 digits into an int64, 19 into a u64; 15 into a double, whose text they are.
    if (kind === 'int64' && digits > 0 && digits <= 18) return true;
    if (kind === 'decimal' && digits > 0 && digits <= 19 && json.bytes[start] !== minus) return true;
    if (kind === 'double' && digits > 0 && digits <= 15) return true;
    if (kind === 'double' && json.fractionEnd > 0) {
      rows.setSpan(cell, start, json.fractionEnd - start);
      return true;
    }
    return this.#fitted(kind, rows, cell);
  }

  /** Has the cell that a number was put into hold the text of what its column can hold of it: `1e2` is 100. */
  #fitted(kind: MemberKind, rows: RowBlockBuilder, cell: number): boolean {
    const text = rows.textAt(cell, this.#json.bytes);
    const number = numberOf(text);
    const fitted = kind === 'double' ? doubleOf(number) : kind === 'int64' ? int64Of(number) : uint64Of(number);
    if (fitted === undefined) return false;
    const shortest = typeof fitted === 'bigint' ? String(fitted) : numberText(fitted);
    if (shortest !== text) rows.setText(cell, shortest, false);
    return true;
  }

  /** Fills a json cell: with the bytes as they are where they are what `stringifyJson` gives. */
  jsonValue(rows: RowBlockBuilder, cell: number): boolean {
    const outer = this.beginText();
    const start = this.#json.at;
    if (!this.#json.value() || !this.jsonCell(rows, cell, start)) return false;
    this.endText(outer);
    return true;
  }

  jsonCell(rows: RowBlockBuilder, cell: number, start: number): boolean {
    const { at, reprint, separated } = this.#json;
    if (reprint) {
      const text = this.#reprinted(start);
      if (text === undefined) return false;
      rows.setText(cell, text, false);
    } else {
      rows.setSpan(cell, start, at - start);
      if (separated) rows.marks[cell] = jsonMarks;
    }
    return true;
  }

  trait(rows: RowBlockBuilder, cell: number): boolean {
    const json = this.#json;
    const start = json.at;
    const byte = json.bytes[start];
    if (byte === quote) {
      if (!json.string()) return false;
      this.#stringCell(rows, cell, start);
      this.traitType(rows, cell, traitTypes.string);
      return true;
    }
    if (byte === openBracket || byte === openBrace) {
      const outer = this.beginText();
      if (!json.value()) return false;
      const text = json.reprint ? this.#reprinted(start) : this.text(start, json.at);
      if (text === undefined) return false;
      rows.setText(cell, text, false);
      this.endText(outer);
      this.traitType(rows, cell, byte === openBracket ? traitTypes.array : traitTypes.object);
      return true;
    }
    const isBoolean = byte === lowerT || byte === lowerF;
    if (!(isBoolean ? json.literal() : json.number())) return false;
    rows.setSpan(cell, start, json.at - start);
    this.traitType(rows, cell, isBoolean ? traitTypes.boolean : traitTypes.number);
    return true;
  }

  traitType(rows: RowBlockBuilder, cell: number, type: Constant): void {
    rows.setSpan(cell + traitTypeOffset, ~type.from, type.length);
  }

  unknown(member: Member, extra: ExtraText): boolean {
    const json = this.#json;
    const outer = this.beginText();
    const start = json.at;
    if (!json.value()) return false;
    if (json.reprint) {
      const text = this.#reprinted(start);
      if (text === undefined) return false;
      extra.addText(member.key, text);
    } else extra.add(member.key, start, json.at);
    this.endText(outer);
    return true;
  }

  /** Resets `reprint` and `separated` for one value; `endText` adds the earlier values. */
  beginText(): number {
    const json = this.#json;
    const outer = (json.reprint ? 1 : 0) | (json.separated ? 2 : 0);
    json.reprint = false;
    json.separated = false;
    return outer;
  }

  endText(outer: number): void {
    const json = this.#json;
    if ((outer & 1) !== 0) json.reprint = true;
    if ((outer & 2) !== 0) json.separated = true;
  }

  /** The value as `stringifyJson` gives it; undefined when it has to be made of too many. */
  #reprinted(start: number): string | undefined {
    const { bytes, at } = this.#json;
    if (at - start > mostValues && countValues(bytes, start, at) > mostValues) return undefined;
    return stringifyJson(parseJson(this.text(start, at)));
  }

  text(start: number, end: number): string {
    return utf8Text(this.#json.bytes, start, end);
  }
}

/** `value_type` follows `value`. */
const traitTypeOffset = 1;
