import { type RowBlock, textOfCell } from '../records/row-block.ts';
import type { Kernel } from '../../lib/kernel/kernel.ts';
import {
  careSlot,
  cellFromSlot,
  cellLengthSlot,
  cellMarksSlot,
  columnCountSlot,
  jsonCare,
  outBytesSlot,
  outSlot,
  plainCare,
  rowCountSlot,
  stopBytesSlot,
  stringCare,
  textsSlot,
  timeCare,
  fixedSlot,
  fixedStartsSlot,
  formulasSlot,
  replacedSlot,
  rowsWrittenSlot,
  writtenSlot,
} from '../../lib/kernel/slots.ts';
import type { ColumnType } from '../records/table.ts';
import { timestampText } from '../records/texts.ts';
import { type ByteBlocks, type FormatTexts, timestampBytes } from './growing-bytes.ts';
import type { EncoderNotes } from './sink.ts';

/** What the kernel knows of the cells of a column. */
export const cares: Readonly<Record<ColumnType, number>> = {
  string: stringCare,
  json: jsonCare,
  timestamp: timeCare,
  boolean: plainCare,
  int64: plainCare,
  double: plainCare,
  decimal: plainCare,
};

/** Rows of a block that the kernel is to encode. */
export interface BlockRows {
  readonly first: number;
  readonly rows: number;
  /** What the cells of each column are to it. */
  readonly cares: readonly number[];
  /** Bytes from which on no further row begins, and bytes that there is room for. */
  readonly stop: number;
  readonly room: number;
  /** Room for texts behind those of the block. */
  readonly textRoom?: number;
  /** Sizes of further regions. */
  readonly more: readonly number[];
}

/** Puts rows of a block into the kernel's memory. @returns where the further regions begin @throws {RangeError} when there is no such memory */
export function loadRows(kernel: Kernel, block: RowBlock, options: BlockRows): readonly number[] {
  const { first, rows, cares, stop, room, textRoom = 0, more } = options;
  const { width } = block;
  const cells = rows * width;
  const base = first * width;
  const texts = kernel.loadTexts(block.source, block.made, textRoom);
  const [from = 0, length = 0, marks = 0, care = 0, out = 0, ...others] = kernel.regions([
    ...[cells * 4, cells * 4, cells, width, room],
    ...more,
  ]);
  const { bytes, words } = kernel;
  words.set(block.from.subarray(base, base + cells), from >> 2);
  words.set(block.length.subarray(base, base + cells), length >> 2);
  bytes.set(block.marks.subarray(base, base + cells), marks);
  bytes.set(cares, care);
  kernel.setSlots([
    ...[textsSlot, texts, cellFromSlot, from, cellLengthSlot, length, cellMarksSlot, marks, careSlot, care],
    ...[rowCountSlot, rows, columnCountSlot, width, outSlot, out, outBytesSlot, room, stopBytesSlot, stop],
  ]);
  return others;
}

/** Rows that are put into the kernel's memory at a time, and bytes that come of them before no further row begins. */
const mostRows = 2048;
const mostBytes = 1 << 20;

/** Room for the row that crosses that end, unless one is wider. */
const rowBytes = 64 * 1024;

/** Has the kernel write the rows of one file. */
export class KernelLines {
  readonly #lines: ByteBlocks;
  readonly #cares: readonly number[];
  readonly #texts: FormatTexts;
  readonly #encode: (kernel: Kernel) => void;
  readonly #times: readonly number[];
  #formulaCells = 0;
  #replacedSurrogates = 0;

  /** @param encode sets what the format has of its own, and runs it */
  constructor(
    lines: ByteBlocks,
    { types, texts }: { readonly types: readonly ColumnType[]; readonly texts: FormatTexts },
    encode: (kernel: Kernel) => void,
  ) {
    this.#lines = lines;
    this.#cares = types.map((type) => cares[type]);
    this.#texts = texts;
    this.#encode = encode;
    this.#times = types.flatMap((type, index) => (type === 'timestamp' ? [index] : []));
  }

  get notes(): EncoderNotes {
    return { formulaCells: this.#formulaCells, replacedSurrogates: this.#replacedSurrogates };
  }

  /**
   * Writes rows of a block from `first` on, up to the end of a block of bytes.
   * @returns how many; 0 where the kernel has no memory for one
   */
  write(kernel: Kernel, block: RowBlock, first: number): number {
    const stop = Math.max(1, Math.min(mostBytes, this.#lines.room));
    try {
      for (let room = stop + rowBytes; ; room *= 4) {
        this.#load(kernel, block, { first, room, stop });
        this.#encode(kernel);
        const rows = kernel.slot(rowsWrittenSlot);
        if (rows > 0) return this.#take(kernel, rows);
      }
    } catch (error) {
      if (error instanceof RangeError) return 0;
      throw error;
    }
  }

  #load(kernel: Kernel, block: RowBlock, { first, room, stop }: { first: number; room: number; stop: number }): void {
    const rows = Math.min(mostRows, block.rows - first);
    const { bytes: fixed, starts } = this.#texts;
    const [fixedAt = 0, startsAt = 0] = loadRows(kernel, block, {
      first,
      rows,
      cares: this.#cares,
      stop,
      room,
      textRoom: rows * this.#times.length * timestampBytes,
      more: [fixed.length, starts.length * 4],
    });
    kernel.bytes.set(fixed, fixedAt);
    kernel.words.set(starts, startsAt >> 2);
    kernel.setSlots([fixedSlot, fixedAt, fixedStartsSlot, startsAt]);
    if (this.#times.length > 0) this.#writeTimes(kernel, block, { first, rows });
  }

  /** Puts the texts of times behind those of the block: often all have the same. */
  #writeTimes(kernel: Kernel, block: RowBlock, { first, rows }: { first: number; rows: number }): void {
    const { words, bytes } = kernel;
    const texts = kernel.slot(textsSlot);
    const from = kernel.slot(cellFromSlot) >> 2;
    const length = kernel.slot(cellLengthSlot) >> 2;
    let end = block.made.length;
    let last: string | undefined;
    for (const column of this.#times) {
      for (let row = 0; row < rows; row += 1) {
        const digits = textOfCell(block, (first + row) * block.width + column);
        if (digits === null) continue;
        if (digits !== last) {
          bytes.set(Buffer.from(timestampText(Number(digits))), texts + end);
          end += timestampBytes;
          last = digits;
        }
        words[from + row * block.width + column] = ~(end - timestampBytes);
        words[length + row * block.width + column] = timestampBytes;
      }
    }
  }

  #take(kernel: Kernel, rows: number): number {
    const out = kernel.slot(outSlot);
    const written = kernel.slot(writtenSlot);
    this.#formulaCells += kernel.slot(formulasSlot);
    this.#replacedSurrogates += kernel.slot(replacedSlot);
    this.#lines.reserve(written);
    this.#lines.add(kernel.bytes.subarray(out, out + written));
    return rows;
  }
}
