import * as arrow from '@uwdata/flechette';
import { type Element, listElements } from '../assets/list-elements.ts';
import type { Cell, Column } from '../assets/table.ts';
import { type ArrowCells, batchOf, validityOf } from './arrow-column.ts';
import { arrowType, structType } from './arrow-type.ts';

/** Lays out the lists of a column with elements: offsets into one struct an element, of one column a member. */
export function arrowLists(column: Column, cells: readonly Cell[]): ArrowCells {
  const type = arrowType(column);
  const elements: Element[] = [];
  const offsets = new Int32Array(cells.length + 1);
  for (const [index, cell] of cells.entries()) {
    if (typeof cell === 'string') for (const element of listElements(column, cell)) elements.push(element);
    offsets[index + 1] = elements.length;
  }
  const structs = structBatch(column, elements);
  const lists = new arrow.Batch<unknown>({
    length: cells.length,
    type,
    ...validityOf(cells),
    offsets,
    children: [structs],
  });
  return { column: new arrow.Column([lists], type), replacedSurrogates: 0 };
}

function structBatch(column: Column, elements: readonly Element[]): arrow.Batch<unknown> {
  const members = column.elements ?? [];
  const children = members.map((member, at) => {
    return batchOf(
      member,
      elements.map((element) => element?.[at] ?? null),
    ).batch;
  });
  return new arrow.Batch<unknown>({
    length: elements.length,
    type: structType(members),
    ...validityOf(elements),
    children,
  });
}
