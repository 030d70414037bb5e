import type { Column } from '../../records/table.ts';
import type { ArrowCells } from './arrow-cells.ts';
import { BooleanCells, DoubleCells, IntegerCells } from './arrow-numbers.ts';
import { TextCells } from './arrow-text.ts';

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
