import { timestampBytes } from '../core/formats/timestamp-texts.ts';
import { type WordedBytes, wordedBytes } from '../lib/scan/four-bytes.ts';
import { JsonScanner } from '../lib/scan/json-scanner.ts';
import { cellOfJson } from '../core/records/cell-of-text.ts';
import { isJsonObject, parseJson } from '../lib/json/json.ts';
import { type RowBlock, RowBlockBuilder, textMarks } from '../core/records/row-block.ts';
import type { Column } from '../core/records/table.ts';
import type { RowLayout } from './row-readers.ts';
import { TimestampDigits } from './timestamp-digits.ts';
import { wholeLines } from './whole-lines.ts';
import { closeBrace, lineFeed, lowerN, quote } from '../lib/ascii.ts';

/** Reads lines of JSON as this program writes them, each with the same names in the same order; others are parsed. */
export async function* jsonlBlocks(
  bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  layout: RowLayout,
): AsyncGenerator<RowBlock, void, void> {
  const keys = layout.written.map((name, index) => {
    return wordedBytes(Buffer.from(`${index === 0 ? '{' : ','}${JSON.stringify(name)}:`));
  });
  const reader = new LineReader(layout, keys);
  for await (const lines of wholeLines(bytes)) if (lines.length > 0) yield reader.read(lines);
}

class LineReader {
  readonly #layout: RowLayout;
  readonly #keys: readonly WordedBytes[];
  /** By the place in the file: that in the row, or -1. */
  readonly #places: readonly number[];
  /** The key before whose column no other is wanted, where that column is the last of a line and a time. */
  readonly #lastAlone: number;
  readonly #times = new TimestampDigits();
  #lines: Buffer = Buffer.of();
  readonly #builder: RowBlockBuilder;

  constructor(layout: RowLayout, keys: readonly WordedBytes[]) {
    this.#layout = layout;
    this.#keys = keys;
    this.#builder = new RowBlockBuilder(layout.columns.length);
    this.#places = layout.written.map((name) => layout.names.indexOf(name));
    const last = this.#places.length - 1;
    const isTime = layout.columns[this.#places[last] ?? -1]?.type === 'timestamp';
    const before = this.#places.findLastIndex((place, index) => place >= 0 && index < last);
    this.#lastAlone = isTime ? before + 1 : last;
  }

  /** @param lines each with its end */
  read(lines: Buffer): RowBlock {
    this.#lines = lines;
    const builder = this.#builder;
    builder.cutTo(0);
    const scanner = new JsonScanner(lines);
    for (let start = 0; start < lines.length; start = scanner.at + 1) {
      scanner.at = start;
      const first = builder.addRow();
      if (this.#readLine(scanner, first) && lines[scanner.at] === lineFeed) continue;
      builder.cutTo(builder.rows - 1);
      scanner.at = lines.indexOf(lineFeed, start);
      if (scanner.at > start) this.#parseLine(lines.toString('utf8', start, scanner.at), builder);
    }
    return builder.block(lines);
  }

  #readLine(scanner: JsonScanner, first: number): boolean {
    const { columns } = this.#layout;
    for (let index = 0; index < this.#keys.length; index += 1) {
      if (index === this.#lastAlone && this.#skipToLast(scanner)) index = this.#keys.length - 1;
      const key = this.#keys[index];
      if (key === undefined || !scanner.take(key)) return false;
      const place = this.#places[index] ?? -1;
      const column = columns[place];
      const isRead = column === undefined ? scanner.value() : this.#readCell(scanner, first + place, column);
      if (!isRead) return false;
    }
    scanner.at += 1;
    return scanner.bytes[scanner.at - 1] === closeBrace;
  }

  /**
   * Goes to the last key of the line, where its value is a time: what lies between is not looked at. Its key and value have a known length, and
   * end the line nowhere else.
   */
  #skipToLast(scanner: JsonScanner): boolean {
    const last = this.#keys.length - 1;
    const key = this.#keys[last];
    const lineEnd = this.#lines.indexOf(lineFeed, scanner.at);
    if (key === undefined || lineEnd < 0) return false;
    const { at } = scanner;
    const start = lineEnd - timeBytes - 1 - key.length;
    if (start <= at) return false;
    scanner.at = start;
    const isThere = scanner.take(key);
    scanner.at = isThere ? start : at;
    return isThere;
  }

  #readCell(scanner: JsonScanner, cell: number, { type }: Column): boolean {
    const lines = this.#lines;
    const builder = this.#builder;
    const { at } = scanner;
    if (lines[at] === lowerN) return scanner.literal();
    if (type === 'string' || type === 'timestamp') {
      if (!scanner.string()) return false;
      if (type === 'timestamp') builder.setText(cell, this.#times.of(lines, at + 1, scanner.at - 1), false);
      else if (scanner.escaped) builder.setText(cell, textOf(lines, at, scanner.at), true);
      else {
        builder.setSpan(cell, at + 1, scanner.at - at - 2);
        builder.marks[cell] = scanner.marks;
      }
      return true;
    }
    const isText = lines[at] === quote;
    if (!scanner.valueAlone() || scanner.reprint || (isText && type !== 'json')) return false;
    builder.setSpan(cell, at, scanner.at - at);
    builder.marks[cell] = scanner.separated ? textMarks.separators : 0;
    return true;
  }

  #parseLine(line: string, builder: RowBlockBuilder): void {
    const { columns, names } = this.#layout;
    const row = parseJson(line);
    if (!isJsonObject(row)) throw new SyntaxError('a line is not a JSON object');
    builder.addCells(
      columns,
      columns.map(({ type }, index) => {
        const name = names[index];
        return name === undefined ? null : cellOfJson(row[name], type);
      }),
    );
  }
}

/** `"2026-11-20T02:00:00.000000Z"`. */
const timeBytes = timestampBytes + 2;

/** What a JSON string with escapes says. */
function textOf(lines: Buffer, start: number, end: number): string {
  return String(JSON.parse(lines.toString('utf8', start, end)));
}
