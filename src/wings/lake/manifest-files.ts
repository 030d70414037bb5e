import type { ColumnFooter } from '../../exports/parquet-footer.ts';
import type { AvroFile, AvroValue } from './avro/avro-schema.ts';
import { manifestEntry, manifestFile } from './avro/manifest-schemas.ts';
import { readAvro } from './avro/read-avro.ts';
import { writeAvro } from './avro/write-avro.ts';
import type { IcebergField, IcebergSchema } from './iceberg-schema.ts';

/** A file of a table, as its manifest names it. */
export interface DataFile {
  /** Absolute: where readers find it. */
  readonly address: string;
  readonly rows: number;
  readonly bytes: number;
  readonly columns: readonly ColumnFooter[];
}

/** A row of a manifest list. */
export interface ListedManifest {
  readonly manifest_path: string;
  readonly manifest_length: number;
  readonly sequence_number: number;
  readonly added_snapshot_id: number;
  readonly added_files_count: number;
  readonly added_rows_count: number;
}

const added = 1;

/** The manifest of a night: all of its files, added by its snapshot. */
export function nightManifest(files: readonly DataFile[], schema: IcebergSchema, snapshotId: number): Buffer {
  const metadata = {
    schema: JSON.stringify(schema),
    'schema-id': String(schema['schema-id']),
    'partition-spec': '[]',
    'partition-spec-id': '0',
    'format-version': '2',
    content: 'data',
  };
  const records = files.map((file) => ({
    status: added,
    snapshot_id: snapshotId,
    sequence_number: null,
    file_sequence_number: null,
    data_file: dataFile(file, schema),
  }));
  return writeAvro(manifestEntry, { metadata, records });
}

/** A longer bound is left out: it would be in every manifest, and helps few readers. */
const longestBound = 64;

function dataFile({ address, rows, bytes, columns }: DataFile, { fields }: IcebergSchema): AvroValue {
  const known = fields.flatMap((field) => {
    const column = columns.find(({ id }) => id === field.id);
    return column === undefined ? [] : [{ field, column }];
  });
  const byColumn = (value: (column: ColumnFooter) => AvroValue | undefined): AvroValue =>
    known.flatMap(({ field, column }) => {
      const found = value(column);
      return found === undefined ? [] : [{ key: field.id, value: found }];
    });
  const bounds = (side: 'lower' | 'upper'): AvroValue =>
    known.flatMap(({ field, column }) => {
      const bound = column[side];
      const isTaken = bound !== undefined && hasBounds(field) && bound.length <= longestBound;
      return isTaken ? [{ key: field.id, value: bound }] : [];
    });
  return {
    content: 0,
    file_path: address,
    file_format: 'PARQUET',
    partition: {},
    record_count: rows,
    file_size_in_bytes: bytes,
    column_sizes: byColumn((column) => column.bytes),
    value_counts: byColumn((column) => column.values),
    null_value_counts: byColumn((column) => column.nulls),
    lower_bounds: bounds('lower'),
    upper_bounds: bounds('upper'),
  };
}

function hasBounds({ type }: IcebergField): boolean {
  return type === 'long' || type === 'timestamptz' || type === 'string';
}

/** The list of the manifests of a snapshot. */
export function nightManifestList(
  manifests: readonly ListedManifest[],
  listed: { readonly snapshotId: number; readonly parentId: number | undefined; readonly sequenceNumber: number },
): Buffer {
  const metadata = {
    'snapshot-id': String(listed.snapshotId),
    'parent-snapshot-id': listed.parentId === undefined ? 'null' : String(listed.parentId),
    'sequence-number': String(listed.sequenceNumber),
    'format-version': '2',
  };
  const records = manifests.map((manifest) => ({
    ...manifest,
    partition_spec_id: 0,
    content: 0,
    min_sequence_number: manifest.sequence_number,
    existing_files_count: 0,
    deleted_files_count: 0,
    existing_rows_count: 0,
    deleted_rows_count: 0,
  }));
  return writeAvro(manifestFile, { metadata, records });
}

/** @throws {ExportError} `damaged` */
export function readManifestList(bytes: Uint8Array, path: string): ListedManifest[] {
  return readAvro(bytes, path).records.map((record) => record as unknown as ListedManifest);
}

/** Addresses and sizes of the files that a manifest names. @throws {ExportError} `damaged` */
export function readManifestFiles(bytes: Uint8Array, path: string): Pick<DataFile, 'address' | 'bytes' | 'rows'>[] {
  return readAvro(bytes, path).records.map((record: AvroFile['records'][number]) => {
    const file = record['data_file'] as { readonly [name: string]: AvroValue };
    return {
      address: file['file_path'] as string,
      bytes: Number(file['file_size_in_bytes']),
      rows: Number(file['record_count']),
    };
  });
}
