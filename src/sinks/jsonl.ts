import { type RowBlock, textMarks } from '../assets/row-block.ts';
import type { ColumnType } from '../assets/table.ts';
import { BlockText } from './block-text.ts';
import { ByteLines } from './byte-lines.ts';
import { integerOf } from './digits.ts';
import { jsonEscapes, maxEscapeBytes } from './json-escapes.ts';
import type { ByteOutput, EncoderNotes, EncoderOptions, RowEncoder, Sink } from './sink.ts';
import { TimestampTexts, timestampBytes } from './timestamp-texts.ts';
import { type FixedText, fixedText, type Words } from './words.ts';

/** One JSON object a line, every column as a key, in order. */
export const jsonlSink: Sink = {
  format: 'jsonl',
  extension: 'jsonl',
  compressions: ['none', 'gzip', 'zstd'],
  compressesInside: false,
  open: async (output, options) => new JsonlEncoder(output, options),
};

const quoteMark = 0x22;

/** What ends a line. */
const lineEnd = fixedText('}\n');

/** Copies rows from blocks, byte by byte, behind keys that are made once. */
class JsonlEncoder implements RowEncoder {
  readonly #lines: ByteLines;
  readonly #types: readonly ColumnType[];
  readonly #isQuoted: Uint8Array;
  readonly #keys: readonly FixedText[];
  readonly #nulls: readonly FixedText[];
  /** Most bytes of a line beside the texts of its cells. */
  readonly #besideTexts: number;
  readonly #timestamps = new TimestampTexts();
  #replacedSurrogates = 0;

  constructor(output: ByteOutput, { columns }: EncoderOptions) {
    const keys = columns.map(({ name }, index) => `${index === 0 ? '{' : ','}${JSON.stringify(name)}:`);
    this.#lines = new ByteLines(output);
    this.#types = columns.map(({ type }) => type);
    this.#isQuoted = Uint8Array.from(this.#types, (type) => (type === 'string' || type === 'timestamp' ? 1 : 0));
    this.#keys = keys.map((key, index) => fixedText(this.#isQuoted[index] === 1 ? `${key}"` : key));
    this.#nulls = keys.map((key) => fixedText(`${key}null`));
    this.#besideTexts = this.#keys.reduce((sum, { length }) => sum + length + timestampBytes + 2, 2);
  }

  async write(block: RowBlock): Promise<void> {
    const lines = this.#lines;
    const text = new BlockText(block, this.#types.length);
    for (let row = 0; row < text.rows; row += 1) {
      lines.reserve(text.rowBytes(row, maxEscapeBytes) + this.#besideTexts);
      this.#addRow(text, row * text.width);
      if (lines.isFull) await lines.flush();
    }
  }

  async end(): Promise<EncoderNotes> {
    await this.#lines.flush();
    return { formulaCells: 0, replacedSurrogates: this.#replacedSurrogates };
  }

  #addRow(text: BlockText, first: number): void {
    const lines = this.#lines;
    const isQuoted = this.#isQuoted;
    for (let index = 0; index < isQuoted.length; index += 1) {
      const cell = first + index;
      const length = text.length[cell] ?? -1;
      lines.fixed((length < 0 ? this.#nulls : this.#keys)[index] ?? lineEnd);
      if (length < 0) continue;
      if (isQuoted[index] === 0) lines.copy(text.words(cell), text.start(cell), length);
      else this.#addQuoted(text, cell, index);
    }
    lines.fixed(lineEnd);
  }

  /** The text of a string or a timestamp; the key before it ends in a quote. */
  #addQuoted(text: BlockText, cell: number, index: number): void {
    const lines = this.#lines;
    const words = text.words(cell);
    const start = text.start(cell);
    const length = text.length[cell] ?? 0;
    const marks = text.marks[cell] ?? 0;
    if (this.#types[index] === 'timestamp') lines.fixed(this.#timestamps.of(integerOf(words, start, length)));
    else if ((marks & textMarks.escapes) === 0) lines.copy(words, start, length);
    else this.#addEscaped(words, start, start + length);
    if ((marks & textMarks.replaced) !== 0) this.#replacedSurrogates += 1;
    lines.byte(quoteMark);
  }

  #addEscaped(words: Words, start: number, end: number): void {
    let from = start;
    for (let at = start; at < end; at += 1) {
      const escape = jsonEscapes[words.bytes[at] ?? 0];
      if (escape === undefined) continue;
      this.#lines.copy(words, from, at - from);
      this.#lines.fixed(escape);
      from = at + 1;
    }
    this.#lines.copy(words, from, end - from);
  }
}
