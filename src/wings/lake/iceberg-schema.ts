import { type Field, fieldsOf } from '../../core/records/field-ids.ts';
import { type ColumnType, isIdColumn, type Table, wholeName } from '../../core/records/table.ts';

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
  readonly type:
    | string
    | {
        readonly type: 'list';
        readonly 'element-id': number;
        readonly 'element-required': false;
        readonly element: { readonly type: 'struct'; readonly fields: readonly IcebergField[] };
      };
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
  return fieldsOf(table).map((field) => {
    const known = before?.fields.find(({ id }) => id === field.id);
    const isId = isIdColumn(field.column) || wholeName(field.column) === 'asset_id';
    return { ...plainField(field), required: isId && (before === undefined || known?.required === true) };
  });
}

function plainField({ id, column, element }: Field): IcebergField {
  const type =
    element === undefined
      ? types[column.type]
      : ({
          type: 'list',
          'element-id': element.id,
          'element-required': false,
          element: { type: 'struct', fields: element.members.map(plainField) },
        } as const);
  return { id, name: column.name, required: false, type, ...(column.about === '' ? {} : { doc: column.about }) };
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

/** The greatest id of a field, nested ones too. */
export function greatestId(fields: readonly IcebergField[]): number {
  return fields.reduce((most, { id, type }) => {
    const within = typeof type === 'string' ? 0 : Math.max(type['element-id'], greatestId(type.element.fields));
    return Math.max(most, id, within);
  }, 0);
}
