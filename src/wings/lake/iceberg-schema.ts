import { fieldsOf, type ColumnType, isIdColumn, type Table, wholeName } from '../../core/records/table.ts';

/** A schema of Iceberg (its specification, "Schemas and Data Types"), as the metadata of a table holds it. */
export interface IcebergSchema {
  readonly type: 'struct';
  readonly 'schema-id': number;
  readonly fields: readonly IcebergField[];
}

export interface IcebergField {
  readonly id: number;
  readonly name: string;
  readonly required: boolean;
  readonly type: string;
  readonly doc?: string;
}

const types = {
  string: 'string',
  boolean: 'boolean',
  int64: 'long',
  double: 'double',
  decimal: 'decimal(20, 0)',
  json: 'string',
  timestamp: 'timestamptz',
} as const satisfies Record<ColumnType, string>;

/**
 * The fields of a table. Only columns of ids are required, and only where they were so before: files of earlier nights may lack
 * any other.
 */
export function icebergFields(table: Table, before: IcebergSchema | undefined): IcebergField[] {
  return fieldsOf(table).map(({ id, column }) => {
    const known = before?.fields.find((field) => field.id === id);
    const isId = isIdColumn(column) || wholeName(column) === 'asset_id';
    const required = isId && (before === undefined || known?.required === true);
    const doc = column.about === '' ? {} : { doc: column.about };
    return { id, name: column.name, required, type: types[column.type], ...doc };
  });
}

/** The schema with these fields: one that the table has, or a new one. What a field is about may have other words. */
export function schemaWith(fields: readonly IcebergField[], known: readonly IcebergSchema[]): IcebergSchema {
  const text = textOf(fields);
  const same = known.find((schema) => textOf(schema.fields) === text);
  if (same !== undefined) return same;
  const id = known.reduce((most, schema) => Math.max(most, schema['schema-id'] + 1), 0);
  return { type: 'struct', 'schema-id': id, fields };
}

function textOf(fields: readonly IcebergField[]): string {
  return JSON.stringify(fields, (key, value: unknown) => (key === 'doc' ? undefined : value));
}

/** The greatest id of a field. */
export function greatestId(fields: readonly IcebergField[]): number {
  return fields.reduce((most, { id }) => Math.max(most, id), 0);
}
