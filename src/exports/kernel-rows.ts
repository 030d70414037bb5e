import { timestampOf, type MadeText } from '../core/records/texts.ts';
import { cares } from '../core/formats/kernel-lines.ts';
import type { FormatTexts } from '../core/formats/growing-bytes.ts';
import type { RowBlockBuilder } from '../core/records/row-block.ts';
import type { Column } from '../core/records/table.ts';
import { asBuffer } from '../lib/scan/split-lines.ts';
import { type Kernel, theKernel } from '../lib/kernel/kernel.ts';
import {
  capacitySlot,
  careSlot,
  columnCountSlot,
  firstTableSlot,
  fixedSlot,
  fixedStartsSlot,
  fromSlot,
  lengthSlot,
  madeBeforeSlot,
  madeBytesSlot,
  madeEndSlot,
  madeSlot,
  marksSlot,
  mostKeyBytes,
  placesSlot,
  recordCountSlot,
  rowsBeforeSlot,
  scanDone,
  scanFull,
  scanSlot,
  skipBytesSlot,
  skipColumnSlot,
  stoppedSlot,
  widthSlot,
} from '../lib/kernel/slots.ts';

/** Microseconds as digits, of timestamps as text. The last one is kept: a column of them often holds one alone. */
export class TimestampDigits {
  #text = '';
  #digits = '';

  of(bytes: Buffer, start: number, end: number): string {
    const text = bytes.toString('latin1', start, end);
    if (text !== this.#text) {
      this.#text = text;
      this.#digits = String(timestampOf(text));
    }
    return this.#digits;
  }
}

/** Rows that a call has room for. */
const mostRows = 1024;

/** How a file of lines holds its columns. */
export interface LineShape {
  readonly format: 'csv' | 'jsonl';
  /** The cells of a row. */
  readonly columns: readonly Column[];
  /** By the column in the file: its place in the row, or -1. */
  readonly places: readonly number[];
  /** Of JSONL the key of each column in the file, of CSV the text of null. */
  readonly texts: FormatTexts;
  /** Of JSONL: the column from which on only the last is wanted, or -1; and how far before the end of a line the key of that begins. */
  readonly skip?: { readonly column: number; readonly bytes: number };
}

/** Has the kernel read the rows of one file back. */
export class KernelRows {
  readonly #shape: LineShape;
  readonly #times: readonly number[];
  readonly #digits = new TimestampDigits();
  readonly #isTooLong: boolean;
  /** What was read last: it stays as it is until all of it is read. */
  #source: Uint8Array | undefined;

  constructor(shape: LineShape) {
    this.#shape = shape;
    this.#times = shape.columns.flatMap(({ type }, place) => (type === 'timestamp' ? [place] : []));
    const { starts } = shape.texts;
    this.#isTooLong = starts.some((start, index) => start - (starts[index - 1] ?? 0) > mostKeyBytes);
  }

  /**
   * Adds the rows that begin at `start`, up to one that is written otherwise, or not whole.
   * @param made holds the texts of the builder
   * @returns where that one begins
   */
  read(source: Uint8Array, start: number, builder: RowBlockBuilder, made: MadeText): number {
    let at = start;
    for (let scale = 1; at < source.length; ) {
      const kernel = this.#isTooLong ? undefined : theKernel();
      if (kernel === undefined || !this.#prepare(kernel, source, { at, scale, made })) return at;
      const outcome = kernel.run.readRows(this.#shape.format === 'csv');
      const rows = kernel.slot(recordCountSlot);
      at = kernel.slot(stoppedSlot) - kernel.answerAt;
      this.#take(kernel, source, { rows, builder, made });
      if (outcome !== scanDone && outcome !== scanFull) return at;
      // A row that makes more texts than there is room for.
      if (outcome === scanFull && rows === 0) scale *= 4;
    }
    return at;
  }

  /** Loads the source and lays out the regions. False where there is no memory for them. */
  #prepare(
    kernel: Kernel,
    source: Uint8Array,
    { at, scale, made }: { readonly at: number; readonly scale: number; readonly made: MadeText },
  ): boolean {
    const { columns, places, texts, skip } = this.#shape;
    const cells = mostRows * columns.length;
    // No text is longer than what it is made of.
    const room = Math.min(source.length - at, (1 << 18) * scale) + 64;
    try {
      if (source !== this.#source) kernel.keep(source);
      this.#source = source;
      kernel.loadAnswer(source);
      const { length: count } = places;
      const [madeAt = 0, from = 0, length = 0, marks = 0, placesAt = 0, careAt = 0, fixed = 0, starts = 0] =
        kernel.regions([
          ...[room, cells * 4, cells * 4, cells, count * 4, count, texts.bytes.length, texts.starts.length * 4],
        ]);
      const { words, bytes } = kernel;
      words.set(places, placesAt >> 2);
      for (const [index, place] of places.entries()) bytes[careAt + index] = cares[columns[place]?.type ?? 'json'];
      bytes.set(texts.bytes, fixed);
      words.set(texts.starts, starts >> 2);
      kernel.setSlots([
        ...[madeSlot, madeAt, madeBytesSlot, room, madeBeforeSlot, made.end, scanSlot, kernel.answerAt + at],
        ...[columnCountSlot, count, placesSlot, placesAt, careSlot, careAt, fixedSlot, fixed, fixedStartsSlot, starts],
        ...[skipColumnSlot, skip?.column ?? -1, skipBytesSlot, skip?.bytes ?? 0],
        ...[firstTableSlot + widthSlot, columns.length, firstTableSlot + fromSlot, from],
        ...[firstTableSlot + lengthSlot, length, firstTableSlot + marksSlot, marks],
        ...[firstTableSlot + capacitySlot, mostRows, firstTableSlot + rowsBeforeSlot, 0],
      ]);
      return true;
    } catch (error) {
      if (error instanceof RangeError) return false;
      throw error;
    }
  }

  /** Copies what came of the rows out of the kernel's memory. */
  #take(
    kernel: Kernel,
    source: Uint8Array,
    { rows, builder, made }: { readonly rows: number; readonly builder: RowBlockBuilder; readonly made: MadeText },
  ): void {
    if (rows === 0) return;
    const { bytes, words } = kernel;
    const first = builder.rows * builder.width;
    const cells = rows * builder.width;
    const [from, length, marks] = [fromSlot, lengthSlot, marksSlot].map((slot) => kernel.slot(firstTableSlot + slot));
    made.addBytes(bytes.subarray(kernel.slot(madeSlot), kernel.slot(madeEndSlot)));
    builder.addRows(rows, {
      from: words.subarray((from ?? 0) >> 2, ((from ?? 0) >> 2) + cells),
      length: words.subarray((length ?? 0) >> 2, ((length ?? 0) >> 2) + cells),
      marks: bytes.subarray(marks, (marks ?? 0) + cells),
    });
    for (const place of this.#times) this.#makeDigits(source, builder, first + place);
  }

  /** Has a column of times hold digits, from a cell on. */
  #makeDigits(source: Uint8Array, builder: RowBlockBuilder, first: number): void {
    const text = asBuffer(source);
    let lastText = -1;
    let last = -1;
    for (let cell = first; cell < builder.rows * builder.width; cell += builder.width) {
      const length = builder.length[cell] ?? -1;
      if (length < 0) continue;
      const from = builder.from[cell] ?? 0;
      // The kernel has equal texts lie in one place.
      if (from === lastText) builder.setSpan(cell, builder.from[last] ?? 0, builder.length[last] ?? 0);
      else builder.setText(cell, this.#digits.of(text, from, from + length), false);
      lastText = from;
      last = cell;
    }
  }
}
