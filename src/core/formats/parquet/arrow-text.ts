import { textMarks } from '../../records/row-block.ts';
import type { Column } from '../../records/table.ts';
import { ArrowCells, type ArrowValues, type RowRange } from './arrow-cells.ts';
import type { BlockText } from '../block-text.ts';
import { GrowingBytes } from '../growing-bytes.ts';

/** Most memory that a column keeps from one batch to the next, and from one file to the next; what wide rows took is given back. */
const keptBytes = 4 * 1024 * 1024;

/** Strings and JSON texts: their bytes one after another, and where each begins. */
export class TextCells extends ArrowCells {
  readonly #isString: boolean;
  readonly #offsets: Int32Array;
  readonly #bytes = new GrowingBytes(keptBytes);

  constructor(column: Column, capacity: number) {
    super(column, capacity);
    this.#isString = column.type === 'string';
    this.#offsets = new Int32Array(capacity + 1);
  }

  override clear(): void {
    super.clear();
    this.#bytes.clear();
  }

  protected override addValues(text: BlockText, index: number, rows: RowRange): void {
    const { width, length, marks } = text;
    const bytes = this.#bytes;
    const offsets = this.#offsets;
    bytes.reserve(columnBytes(text, index, rows));
    let place = this.length;
    for (let cell = rows.first * width + index, end = rows.end * width; cell < end; cell += width) {
      const cellBytes = length[cell] ?? 0;
      if (cellBytes > 0) {
        bytes.copy(text.words(cell), text.start(cell), cellBytes);
        if (this.#isString && ((marks[cell] ?? 0) & textMarks.replaced) !== 0) this.replacedSurrogates += 1;
      }
      place += 1;
      offsets[place] = bytes.used;
    }
  }

  protected override values(): ArrowValues {
    return { values: this.#bytes.bytes, offsets: this.#offsets.subarray(0, this.length + 1) };
  }
}

function columnBytes({ width, length }: BlockText, index: number, { first, end }: RowRange): number {
  let bytes = 0;
  for (let cell = first * width + index; cell < end * width; cell += width) bytes += Math.max(0, length[cell] ?? 0);
  return bytes;
}
