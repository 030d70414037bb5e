import { formatTexts } from '../core/formats/growing-bytes.ts';
import { MadeText } from '../core/records/texts.ts';
import { KernelRows, TimestampDigits } from './kernel-rows.ts';
import { marksOf, type RowBlock, RowBlockBuilder } from '../core/records/row-block.ts';
import type { RowLayout } from './row-readers.ts';
import { comma, lineFeed, quote } from '../lib/ascii.ts';

/** Reads CSV as this program writes it: a header, LF, quotes doubled within quotes. The kernel reads rows; one that it refuses goes the long way. */
export async function* csvBlocks(
  bytes: AsyncIterable<Uint8Array>,
  layout: RowLayout,
): AsyncGenerator<RowBlock, void, void> {
  const reader = new CsvReader(layout);
  let memory = Buffer.allocUnsafeSlow(0);
  // Bytes of the row that is not whole yet.
  let rest = 0;
  for await (const piece of bytes) {
    const length = rest + piece.length;
    if (length > memory.length) memory = Buffer.concat([memory.subarray(0, rest)], 2 * length);
    memory.set(piece, rest);
    const { block, end } = reader.read(memory.subarray(0, length));
    if (block.rows > 0) yield block;
    memory.copyWithin(0, end, length);
    rest = length - end;
  }
  if (rest === 0) return;
  const { block, end } = reader.read(Buffer.concat([memory.subarray(0, rest), Buffer.of(lineFeed)]));
  if (end <= rest) throw new SyntaxError('a quoted cell of CSV has no end');
  if (block.rows > 0) yield block;
}

class CsvReader {
  readonly #layout: RowLayout;
  readonly #nullText: Buffer;
  readonly #times = new TimestampDigits();
  readonly #made = new MadeText();
  readonly #builder: RowBlockBuilder;
  /** By the place in the file: that in the row, or -1. Known from the header on. */
  #places: readonly number[] | undefined;
  #kernelRows: KernelRows | undefined;
  #bytes: Buffer = Buffer.of();
  // Of the cell that was read last:
  #start = 0;
  #end = 0;
  #isQuoted = false;
  #isDoubled = false;

  constructor(layout: RowLayout) {
    this.#layout = layout;
    this.#nullText = Buffer.from(layout.csvNullText);
    this.#builder = new RowBlockBuilder(layout.columns.length, 0, this.#made);
  }

  /** The rows that lie whole in these bytes, and where they end. */
  read(bytes: Buffer): { readonly block: RowBlock; readonly end: number } {
    this.#bytes = bytes;
    const builder = this.#builder;
    builder.cutTo(0);
    let end = this.#places === undefined ? this.#readHeader() : 0;
    for (let next = end; this.#places !== undefined && next < bytes.length; ) {
      end = this.#kernelRows?.read(bytes, end, builder, this.#made) ?? end;
      if (end === bytes.length) break;
      next = this.#readRow(builder, this.#places, end);
      if (next < 0) {
        builder.cutTo(builder.rows - 1);
        break;
      }
      end = next;
    }
    return { block: builder.block(bytes), end };
  }

  #readHeader(): number {
    const found: string[] = [];
    for (let at = 0; ; ) {
      at = this.#readCell(at);
      if (at < 0) return 0;
      found.push(this.#text());
      if (this.#bytes[at - 1] !== lineFeed) continue;
      const { columns, names, csvNullText } = this.#layout;
      this.#places = found.map((name) => names.indexOf(name));
      const texts = formatTexts([csvNullText]);
      this.#kernelRows = new KernelRows({ format: 'csv', columns, places: this.#places, texts });
      return at;
    }
  }

  /** @returns where the next row begins; -1 when the bytes end before this one does */
  #readRow(builder: RowBlockBuilder, places: readonly number[], start: number): number {
    const first = builder.addRow();
    let at = start;
    for (let index = 0; ; index += 1) {
      at = this.#readCell(at);
      if (at < 0) return -1;
      const place = places[index] ?? -1;
      if (place >= 0) this.#put(builder, first + place, place);
      if (this.#bytes[at - 1] === lineFeed) return at;
    }
  }

  /** Reads the cell that begins at `start`. @returns the place behind the comma or the end of line that follows it; -1 when there is none */
  #readCell(start: number): number {
    const bytes = this.#bytes;
    this.#isQuoted = bytes[start] === quote;
    this.#isDoubled = false;
    let at = start;
    if (this.#isQuoted) {
      this.#start = start + 1;
      for (
        at = bytes.indexOf(quote, this.#start);
        bytes[at + 1] === quote && at >= 0;
        at = bytes.indexOf(quote, at + 2)
      )
        this.#isDoubled = true;
      if (at < 0) return -1;
      this.#end = at;
      at += 1;
      if (at < bytes.length && bytes[at] !== comma && bytes[at] !== lineFeed)
        throw new SyntaxError('a cell of CSV goes on behind its quotes');
    } else {
      this.#start = start;
      while (at < bytes.length && bytes[at] !== comma && bytes[at] !== lineFeed) at += 1;
      this.#end = at;
    }
    return at < bytes.length ? at + 1 : -1;
  }

  #put(builder: RowBlockBuilder, cell: number, place: number): void {
    const bytes = this.#bytes;
    const type = this.#layout.columns[place]?.type;
    const start = this.#start;
    const length = this.#end - start;
    if (!this.#isQuoted && this.#isNull(length)) return;
    if (type === 'timestamp') builder.setText(cell, this.#times.of(bytes, start, this.#end), false);
    else if (this.#isDoubled) builder.setText(cell, this.#text(), type === 'string');
    else {
      builder.setSpan(cell, start, length);
      if (type === 'string' || type === 'json') builder.marks[cell] = marksOf(bytes, start, this.#end);
    }
  }

  #isNull(length: number): boolean {
    return length === this.#nullText.length && (length === 0 || this.#text() === this.#layout.csvNullText);
  }

  #text(): string {
    const text = this.#bytes.toString('utf8', this.#start, this.#end);
    return this.#isDoubled ? text.replaceAll('""', '"') : text;
  }
}
