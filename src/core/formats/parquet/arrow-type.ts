import * as arrow from '@uwdata/flechette';
import { type Field, fieldOf } from '../../records/field-ids.ts';
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

/**
 * A column with its field ids, nested ones too. Columns that are of no table have none. One with elements is a list of structs, named as
 * Parquet's specification names its three levels.
 */
export function arrowField(column: Column): ArrowField {
  if (column.fieldId !== undefined) return numbered(fieldOf(column));
  const type =
    column.elements === undefined ? arrowTypes[column.type] : listOf(arrow.struct(column.elements.map(arrowField)));
  return arrow.field(column.name, type, column.nullable);
}

type ArrowField = ReturnType<typeof arrow.field>;

function numbered({ id, column, element }: Field): ArrowField {
  const type =
    element === undefined ? arrowTypes[column.type] : listOf(arrow.struct(element.members.map(numbered)), element.id);
  return arrow.field(column.name, type, column.nullable, idOf(id));
}

function listOf(element: arrow.DataType, id?: number): arrow.DataType {
  return arrow.list(arrow.field('element', element, true, id === undefined ? null : idOf(id)));
}

/** Where Apache's encoder takes the field id of Parquet from. */
function idOf(id: number): Map<string, string> {
  return new Map([['PARQUET:field_id', String(id)]]);
}
