import { type RowBlock, textMarks } from '../records/row-block.ts';
import type { ColumnType } from '../records/table.ts';
import { csvDialects } from '../../lib/csv-dialect.ts';
import { BlockText } from './block-text.ts';
import { ByteBlocks } from './byte-blocks.ts';
import {
  blockBytes,
  type ByteOutput,
  type EncoderNotes,
  type EncoderOptions,
  extensions,
  type RowEncoder,
  type Sink,
} from './sink.ts';
import { TimestampTexts, timestampBytes } from './timestamp-texts.ts';
import { type FixedTexts, fixedTexts, integerOf } from './words.ts';
import { comma, lineFeed, quote } from '../../lib/ascii.ts';

/** RFC 4180 with a header, LF and UTF-8; null is an empty cell and the empty string is `""`, unless the dialect says otherwise. */
export const csvSink: Sink = {
  format: 'csv',
  extension: extensions.csv,
  compressesInside: false,
  blockBytes,
  open: async (output, options) => new CsvEncoder(output, options),
};

const apostrophe = 0x27;

/** Upper bound on the bytes of a cell without its text: comma, two quotes and an apostrophe, or a null or a timestamp. */
const besideText = timestampBytes + 4;

/** Names hold no null, no formula and no empty text, so no dialect writes them in another way. */
function headerOf(names: readonly string[]): string {
  return `${names.map((name) => (/[",\r\n]/.test(name) ? `"${name.replaceAll('"', '""')}"` : name)).join(',')}\n`;
}

/** Copies rows from blocks, byte by byte; docs/decisions/0004-csv-rows.md says why. */
class CsvEncoder implements RowEncoder {
  readonly #types: readonly ColumnType[];
  /** Of each column: 0 where the text is the cell, 1 where it may need quotes, 2 where another text stands for it. */
  readonly #cares: Uint8Array;
  readonly #lines: ByteBlocks;
  readonly #nullText: FixedTexts;
  readonly #quoteTexts: boolean;
  readonly #escapeFormulas: boolean;
  readonly #timestamps = new TimestampTexts();
  #formulaCells = 0;
  #replacedSurrogates = 0;

  constructor(output: ByteOutput, { columns, escapeFormulas, csvDialect }: EncoderOptions) {
    const { nullText, quoteTexts } = csvDialects[csvDialect ?? 'rfc4180'];
    this.#types = columns.map(({ type }) => type);
    this.#cares = Uint8Array.from(this.#types, (type) =>
      type === 'timestamp' ? 2 : type === 'string' || type === 'json' ? 1 : 0,
    );
    this.#lines = new ByteBlocks(output);
    this.#nullText = fixedTexts([nullText]);
    this.#quoteTexts = quoteTexts;
    this.#escapeFormulas = escapeFormulas;
    const header = fixedTexts([headerOf(columns.map(({ name }) => name))]);
    this.#lines.reserve(header.words.bytes.length);
    this.#lines.fixed(header, 0);
  }

  async write(block: RowBlock): Promise<void> {
    const lines = this.#lines;
    const text = new BlockText(block, this.#types.length);
    for (let row = 0; row < text.rows; row += 1) {
      lines.reserve(2 * text.rowBytes(row) + text.width * besideText + 1);
      this.#addRow(text, row * text.width);
      if (lines.isFull) await lines.flush();
    }
  }

  async end(): Promise<EncoderNotes> {
    await this.#lines.end();
    return { formulaCells: this.#formulaCells, replacedSurrogates: this.#replacedSurrogates };
  }

  #addRow(text: BlockText, first: number): void {
    const lines = this.#lines;
    const cares = this.#cares;
    for (let index = 0; index < cares.length; index += 1) {
      const cell = first + index;
      const length = text.length[cell] ?? -1;
      const care = cares[index] ?? 0;
      if (index > 0) lines.byte(comma);
      if (length < 0) lines.fixed(this.#nullText, 0);
      else if (care === 0 || (care === 1 && this.#isBare(text, cell))) {
        lines.copy(text.words(cell), text.start(cell), length);
      } else this.#addCell(text, cell, this.#types[index]);
    }
    lines.byte(lineFeed);
  }

  /** Whether a text stands as it is, and there is nothing to count: most do. */
  #isBare(text: BlockText, cell: number): boolean {
    const length = text.length[cell] ?? 0;
    if (this.#quoteTexts || text.marks[cell] !== 0 || length === 0) return false;
    return !startsFormula(text.words(cell).bytes, text.start(cell), length);
  }

  #addCell(text: BlockText, cell: number, type: ColumnType | undefined): void {
    if (type === 'string') this.#addString(text, cell);
    else if (type === 'json') this.#addText(text, cell, false);
    else {
      const us = integerOf(text.words(cell), text.start(cell), text.length[cell] ?? 0);
      this.#lines.fixed(this.#timestamps.of(us), 0);
    }
  }

  /** Counts what is odd about a string, and disarms it when asked to. */
  #addString(text: BlockText, cell: number): void {
    if (((text.marks[cell] ?? 0) & textMarks.replaced) !== 0) this.#replacedSurrogates += 1;
    const isFormula = startsFormula(text.words(cell).bytes, text.start(cell), text.length[cell] ?? 0);
    if (isFormula) this.#formulaCells += 1;
    this.#addText(text, cell, isFormula && this.#escapeFormulas);
  }

  #addText(text: BlockText, cell: number, disarmed: boolean): void {
    const lines = this.#lines;
    const words = text.words(cell);
    const start = text.start(cell);
    const length = text.length[cell] ?? 0;
    const isMarked = ((text.marks[cell] ?? 0) & textMarks.separators) !== 0;
    const isQuoted = isMarked || this.#quoteTexts || length === 0;
    if (isQuoted) lines.byte(quote);
    if (disarmed) lines.byte(apostrophe);
    if (isMarked) lines.copyDoubled(words, start, length);
    else lines.copy(words, start, length);
    if (isQuoted) lines.byte(quote);
  }
}

/** First bytes of the characters below: 1 for a whole one, 2 for one of three bytes. */
const firstBytes = new Uint8Array(256);
for (const character of ['=', '+', '-', '@', '\t', '\r']) firstBytes[character.charCodeAt(0)] = 1;
firstBytes[0xef] = 2;

/** The full-width `＝`, `＋`, `－` and `＠`, without their first byte. */
const fullWidth = new Set([0xbc9d, 0xbc8b, 0xbc8d, 0xbca0]);

/**
 * Whether a spreadsheet may run a cell of text in UTF-8: the characters of OWASP's "CSV Injection" and the full-width forms of its
 * four signs, the same as csv-stringify's `escape_formulas`. Only strings are meant: a negative number is none.
 */
function startsFormula(bytes: Uint8Array, start: number, length: number): boolean {
  if (length === 0) return false;
  const first = firstBytes[bytes[start] ?? 0] ?? 0;
  if (first === 2 && length >= 3) return fullWidth.has(((bytes[start + 1] ?? 0) << 8) | (bytes[start + 2] ?? 0));
  return first === 1;
}
