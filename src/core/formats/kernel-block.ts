import type { RowBlock } from '../records/row-block.ts';
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
} from '../../lib/kernel/slots.ts';
import type { ColumnType } from '../records/table.ts';

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
