import * as arrow from '@uwdata/flechette';
import { type Element, listElements } from '../../records/list-elements.ts';
import { blockOf } from '../../records/row-block.ts';
import type { Cell, Column } from '../../records/table.ts';
import { ArrowCells, type ArrowValues, type RowRange } from './arrow-cells.ts';
import { plainCells } from './arrow-column.ts';
import { structType } from './arrow-type.ts';
import { BlockText } from '../block-text.ts';

/** The lists of a column with elements: offsets into one struct an element, of one column a member. */
export class ListCells extends ArrowCells {
  readonly #column: Column;
  readonly #offsets: Int32Array;
  #elements: Element[] = [];

  constructor(column: Column, capacity: number) {
    super(column, capacity);
    this.#column = column;
    this.#offsets = new Int32Array(capacity + 1);
  }

  override clear(): void {
    super.clear();
    this.#elements = [];
  }

  protected override addValues(text: BlockText, index: number, rows: RowRange): void {
    let place = this.length;
    for (let cell = rows.first * text.width + index, end = rows.end * text.width; cell < end; cell += text.width) {
      if ((text.length[cell] ?? -1) >= 0) {
        for (const element of listElements(this.#column, text.utf8(cell))) this.#elements.push(element);
      }
      place += 1;
      this.#offsets[place] = this.#elements.length;
    }
  }

  protected override values(): ArrowValues {
    const structs = structBatch(this.#column.elements ?? [], this.#elements);
    return { offsets: this.#offsets.subarray(0, this.length + 1), children: [structs] };
  }
}

function structBatch(members: readonly Column[], elements: readonly Element[]): arrow.Batch<unknown> {
  const nulls: Cell[] = members.map(() => null);
  const text = new BlockText(
    blockOf(
      members,
      elements.map((element) => element ?? nulls),
    ),
    members.length,
  );
  const children = members.map((member, index) => {
    const cells = plainCells(member, elements.length);
    cells.add(text, index, { first: 0, end: elements.length });
    return cells.batch();
  });
  return new arrow.Batch<unknown>({
    length: elements.length,
    type: structType(members),
    ...validityOf(elements),
    children,
  });
}

/** Which elements are not null, a bit each; no bits where all are. */
function validityOf(elements: readonly Element[]): { validity: Uint8Array; nullCount: number } {
  const nullCount = elements.filter((element) => element === null).length;
  const validity = new Uint8Array(nullCount === 0 ? 0 : (elements.length + 7) >> 3);
  if (nullCount > 0) {
    for (const [place, element] of elements.entries()) {
      if (element !== null) validity[place >> 3] = (validity[place >> 3] ?? 0) | (1 << (place & 7));
    }
  }
  return { validity, nullCount };
}
