import type { AvroField, AvroRecord, AvroSchema, Definite } from './avro-schema.ts';

/** Iceberg's specification, version 2, "Manifests" and "Manifest Lists": names, types and field ids. */

function required(id: number, name: string, type: AvroSchema): AvroField {
  return { name, type, 'field-id': id };
}

function optional(id: number, name: string, type: Definite): AvroField {
  return { name, type: ['null', type], default: null, 'field-id': id };
}

/** A map from column ids, as Avro keeps maps whose keys are no texts. */
function byColumn(
  id: number,
  name: string,
  [key, value]: readonly [number, number],
  type: 'long' | 'bytes',
): AvroField {
  return optional(id, name, {
    type: 'array',
    logicalType: 'map',
    items: {
      type: 'record',
      name: `k${key}_v${value}`,
      fields: [required(key, 'key', 'int'), required(value, 'value', type)],
    },
  });
}

const dataFile: AvroRecord = {
  type: 'record',
  name: 'r2',
  fields: [
    required(134, 'content', 'int'),
    required(100, 'file_path', 'string'),
    required(101, 'file_format', 'string'),
    required(102, 'partition', { type: 'record', name: 'r102', fields: [] }),
    required(103, 'record_count', 'long'),
    required(104, 'file_size_in_bytes', 'long'),
    byColumn(108, 'column_sizes', [117, 118], 'long'),
    byColumn(109, 'value_counts', [119, 120], 'long'),
    byColumn(110, 'null_value_counts', [121, 122], 'long'),
    byColumn(125, 'lower_bounds', [126, 127], 'bytes'),
    byColumn(128, 'upper_bounds', [129, 130], 'bytes'),
  ],
};

/** A row a data file. Sequence numbers are inherited from the manifest list. */
export const manifestEntry: AvroRecord = {
  type: 'record',
  name: 'manifest_entry',
  fields: [
    required(0, 'status', 'int'),
    optional(1, 'snapshot_id', 'long'),
    optional(3, 'sequence_number', 'long'),
    optional(4, 'file_sequence_number', 'long'),
    required(2, 'data_file', dataFile),
  ],
};

/** A row a manifest. */
export const manifestFile: AvroRecord = {
  type: 'record',
  name: 'manifest_file',
  fields: [
    required(500, 'manifest_path', 'string'),
    required(501, 'manifest_length', 'long'),
    required(502, 'partition_spec_id', 'int'),
    required(517, 'content', 'int'),
    required(515, 'sequence_number', 'long'),
    required(516, 'min_sequence_number', 'long'),
    required(503, 'added_snapshot_id', 'long'),
    required(504, 'added_files_count', 'int'),
    required(505, 'existing_files_count', 'int'),
    required(506, 'deleted_files_count', 'int'),
    required(512, 'added_rows_count', 'long'),
    required(513, 'existing_rows_count', 'long'),
    required(514, 'deleted_rows_count', 'long'),
  ],
};
