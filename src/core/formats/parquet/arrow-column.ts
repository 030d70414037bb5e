import type { Column } from '../../records/table.ts';
import { ArrowCells, type ArrowValues, type RowRange } from './arrow-cells.ts';
import { textMarks } from '../../records/row-block.ts';
import type { BlockText } from '../block-text.ts';
import { GrowingBytes } from '../growing-bytes.ts';
import { exactDigits, integerOf } from '../words.ts';
import { lowerT } from '../../../lib/ascii.ts';

/** Takes the cells of a column without elements, up to `capacity` a batch. */
export function plainCells(column: Column, capacity: number): ArrowCells {
  switch (column.type) {
    case 'string':
    case 'json':
      return new TextCells(column, capacity);
    case 'boolean':
      return new BooleanCells(column, capacity);
    case 'double':
      return new DoubleCells(column, capacity);
    case 'int64':
    case 'timestamp':
    case 'decimal':
      return new IntegerCells(column, capacity);
  }
}

/** Most memory that a column keeps from one batch to the next, and from one file to the next; what wide rows took is given back. */
const keptBytes = 4 * 1024 * 1024;

/** Strings and JSON texts: their bytes one after another, and where each begins. */
class TextCells extends ArrowCells {
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

const twoTo32 = 2 ** 32;

/** A bit each. */
class BooleanCells extends ArrowCells {
  readonly #bits: Uint8Array;

  constructor(column: Column, capacity: number) {
    super(column, capacity);
    this.#bits = new Uint8Array((capacity + 7) >> 3);
  }

  override clear(): void {
    super.clear();
    this.#bits.fill(0);
  }

  protected override addValues(text: BlockText, index: number, rows: RowRange): void {
    const bits = this.#bits;
    let place = this.length;
    for (let cell = rows.first * text.width + index, end = rows.end * text.width; cell < end; cell += text.width) {
      const isTrue = (text.length[cell] ?? -1) > 0 && text.words(cell).bytes[text.start(cell)] === lowerT;
      if (isTrue) bits[place >> 3] = (bits[place >> 3] ?? 0) | (1 << (place & 7));
      place += 1;
    }
  }

  protected override values(): ArrowValues {
    return { values: this.#bits.subarray(0, (this.length + 7) >> 3) };
  }
}

/** 64 bits each. */
class DoubleCells extends ArrowCells {
  readonly #doubles: Float64Array;

  constructor(column: Column, capacity: number) {
    super(column, capacity);
    this.#doubles = new Float64Array(capacity);
  }

  protected override addValues(text: BlockText, index: number, rows: RowRange): void {
    let place = this.length;
    for (let cell = rows.first * text.width + index, end = rows.end * text.width; cell < end; cell += text.width) {
      this.#doubles[place] = (text.length[cell] ?? -1) < 0 ? 0 : Number(text.latin1(cell));
      place += 1;
    }
  }

  protected override values(): ArrowValues {
    return { values: this.#doubles.subarray(0, this.length) };
  }
}

/** Two's complement in two or four words of 32 bits, the lowest first. */
class IntegerCells extends ArrowCells {
  readonly #words: Int32Array;
  readonly #wordsEach: 2 | 4;

  constructor(column: Column, capacity: number) {
    super(column, capacity);
    this.#wordsEach = column.type === 'decimal' ? 4 : 2;
    this.#words = new Int32Array(capacity * this.#wordsEach);
  }

  override clear(): void {
    super.clear();
    this.#words.fill(0);
  }

  protected override addValues(text: BlockText, index: number, rows: RowRange): void {
    let place = this.length * this.#wordsEach;
    for (let cell = rows.first * text.width + index, end = rows.end * text.width; cell < end; cell += text.width) {
      const digits = text.length[cell] ?? -1;
      if (digits > exactDigits) this.#addLong(place, BigInt(text.latin1(cell)));
      else if (digits > 0) this.#addShort(place, integerOf(text.words(cell), text.start(cell), digits));
      place += this.#wordsEach;
    }
  }

  protected override values(): ArrowValues {
    return { values: this.#words.subarray(0, this.length * this.#wordsEach) };
  }

  #addShort(place: number, value: number): void {
    const words = this.#words;
    const high = Math.floor(value / twoTo32);
    words[place] = value - high * twoTo32;
    words[place + 1] = high;
    if (this.#wordsEach === 2 || value >= 0) return;
    words[place + 2] = -1;
    words[place + 3] = -1;
  }

  #addLong(place: number, value: bigint): void {
    for (let word = 0; word < this.#wordsEach; word += 1) {
      this.#words[place + word] = Number(BigInt.asIntN(32, value >> BigInt(32 * word)));
    }
  }
}
