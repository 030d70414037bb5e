import * as arrow from '@uwdata/flechette';
import type { Column } from '../../records/table.ts';
import { arrowType } from './arrow-type.ts';
import type { BlockText } from '../block-text.ts';

/** The values of a column in a batch, without its length and its validity. */
export type ArrowValues = Partial<Pick<arrow.Batch<unknown>, 'values' | 'offsets' | 'children'>>;

/** Rows of a block, from `first` up to `end`. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

/**
 * The cells of one column of a batch in the making, as Arrow lays them out. Flechette's own builders give the same but encode cell
 * by cell from JavaScript values.
 */
export abstract class ArrowCells {
  /** String cells whose lone surrogates became U+FFFD. */
  protected replacedSurrogates = 0;
  /** Cells so far. */
  protected length = 0;
  readonly #column: Column;
  readonly #type: arrow.DataType;
  readonly #validity: Uint8Array;
  #nullCount = 0;

  constructor(column: Column, capacity: number) {
    this.#column = column;
    this.#type = arrowType(column);
    this.#validity = new Uint8Array((capacity + 7) >> 3);
  }

  /**
   * Adds the column's cells of some rows.
   * @throws {Error} when a cell is null in a column that is never null, which is a bug of the caller.
   */
  add(text: BlockText, index: number, { first, end }: RowRange): void {
    const { width, length } = text;
    const validity = this.#validity;
    let place = this.length;
    let nullCount = 0;
    for (let row = first; row < end; row += 1) {
      if ((length[row * width + index] ?? -1) < 0) nullCount += 1;
      else validity[place >> 3] = (validity[place >> 3] ?? 0) | (1 << (place & 7));
      place += 1;
    }
    if (nullCount > 0 && !this.#column.nullable) throw new Error(`column ${this.#column.name} holds a null`);
    this.#nullCount += nullCount;
    this.addValues(text, index, { first, end });
    this.length = place;
  }

  /** The cells so far. It looks at memory that the next batch uses again. */
  batch(): arrow.Batch<unknown> {
    const { length } = this;
    const nullCount = this.#nullCount;
    const validity = this.#validity.subarray(0, nullCount === 0 ? 0 : (length + 7) >> 3);
    return new arrow.Batch<unknown>({ length, nullCount, type: this.#type, validity, ...this.values() });
  }

  /** How many string cells had lone surrogates that became U+FFFD, since it was last asked. */
  takeReplaced(): number {
    const taken = this.replacedSurrogates;
    this.replacedSurrogates = 0;
    return taken;
  }

  /** Begins another batch. */
  clear(): void {
    this.length = 0;
    this.#nullCount = 0;
    this.#validity.fill(0);
  }

  protected abstract addValues(text: BlockText, index: number, rows: RowRange): void;
  protected abstract values(): ArrowValues;
}
