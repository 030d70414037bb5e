import type { Column, Table } from './table.ts';

/** A column with its field id, as Parquet and Iceberg know it. */
export interface Field {
  readonly id: number;
  readonly column: Column;
  /** Of a list of structs (`Column.elements`): its element and the members of that. */
  readonly element?: { readonly id: number; readonly members: readonly Field[] };
}

/** A list of structs is another column than the same list as JSON text, so it has an id of its own. */
const listIds = 500;
const elementIds = 600;
const memberIds = 1000;

/** Most members of an element that get distinct ids: child tables have fewer. */
const membersEach = 20;

/**
 * The columns of a table in their order, with the field ids that its Parquet files carry, nested members too.
 * @throws {Error} for a column without an id: those of `unexported`, `ids` and raw files are in no Parquet file
 */
export function fieldsOf({ columns }: Pick<Table, 'columns'>): Field[] {
  return columns.map(fieldOf);
}

/** One of `fieldsOf`. @throws {Error} for a column without an id */
export function fieldOf(column: Column): Field {
  const id = idOf(column);
  if (column.elements === undefined) return { id, column };
  const members = column.elements.map((member) => ({
    id: memberIds + membersEach * id + idOf(member),
    column: member,
  }));
  return { id: listIds + id, column, element: { id: elementIds + id, members } };
}

function idOf({ name, fieldId }: Column): number {
  if (fieldId === undefined) throw new Error(`column ${name} has no field id`);
  return fieldId;
}
