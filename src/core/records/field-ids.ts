import type { Column, Table } from './table.ts';

/** A column with its field id, as Parquet and Iceberg know it. */
export interface Field {
  readonly id: number;
  readonly column: Column;
}

/**
 * The columns of a table in their order, with the field ids that its Parquet files carry.
 * @throws {Error} for a column without an id: those of `unexported`, `ids` and raw files are in no Parquet file
 */
export function fieldsOf({ columns }: Pick<Table, 'columns'>): Field[] {
  return columns.map((column) => {
    if (column.fieldId === undefined) throw new Error(`column ${column.name} has no field id`);
    return { id: column.fieldId, column };
  });
}
