import * as arrow from '@uwdata/flechette';
import type { Column, ColumnType } from '../../records/table.ts';

/** The Arrow type of each column type; the Parquet type follows from it. */
const arrowTypes = {
  string: arrow.utf8(),
  boolean: arrow.bool(),
  int64: arrow.int64(),
  double: arrow.float64(),
  decimal: arrow.decimal128(20, 0),
  json: arrow.utf8(),
  timestamp: arrow.timestamp(arrow.TimeUnit.MICROSECOND, 'UTC'),
} as const satisfies Record<ColumnType, unknown>;

/** The Arrow type of a column. One with elements is a list of structs, named as Parquet's specification names its three levels. */
export function arrowType(column: Column): arrow.DataType {
  if (column.elements === undefined) return arrowTypes[column.type];
  return arrow.list(arrow.field('element', structType(column.elements), true));
}

/** What one element of a list is. */
export function structType(elements: readonly Column[]): arrow.DataType {
  return arrow.struct(elements.map(arrowField));
}

export function arrowField(column: Column): ReturnType<typeof arrow.field> {
  return arrow.field(column.name, arrowType(column), column.nullable);
}
