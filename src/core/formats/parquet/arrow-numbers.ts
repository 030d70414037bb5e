import type { Column } from '../../records/table.ts';
import { ArrowCells, type ArrowValues, type RowRange } from './arrow-cells.ts';
import type { BlockText } from '../block-text.ts';
import { exactDigits, integerOf } from '../words.ts';
import { lowerT } from '../../../lib/ascii.ts';

const twoTo32 = 2 ** 32;

/** A bit each. */
export class BooleanCells extends ArrowCells {
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
export class DoubleCells extends ArrowCells {
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
export class IntegerCells extends ArrowCells {
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
