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

type ArrowField = ReturnType<typeof arrow.field>;

/** A column with its field id, where Apache's encoder takes that of Parquet from. Columns that are of no table have none. */
export function arrowField({ name, type, nullable, fieldId }: Column): ArrowField {
  const metadata = fieldId === undefined ? undefined : new Map([['PARQUET:field_id', String(fieldId)]]);
  return arrow.field(name, arrowTypes[type], nullable, metadata);
}
