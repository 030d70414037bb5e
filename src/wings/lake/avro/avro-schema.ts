/** The part of Avro's schemas that Iceberg uses, with the field ids that Iceberg adds. */
export type AvroSchema = Definite | readonly ['null', Definite];

/** Of a value that is never null. */
export type Definite =
  | 'int'
  | 'long'
  | 'string'
  | 'bytes'
  | 'boolean'
  | AvroRecord
  | {
      readonly type: 'array';
      readonly items: Definite;
      /** A map whose keys are no texts is an array of pairs. */
      readonly logicalType?: 'map';
      readonly 'element-id'?: number;
    };

export interface AvroRecord {
  readonly type: 'record';
  readonly name: string;
  readonly fields: readonly AvroField[];
}

export interface AvroField {
  readonly name: string;
  readonly type: AvroSchema;
  readonly default?: null;
  readonly 'field-id': number;
}

/** `long` and `int` are safe integers here, or bigints; an absent optional is null. */
export type AvroValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly AvroValue[]
  | { readonly [name: string]: AvroValue };

/** What a file of Avro holds. */
export interface AvroFile {
  /** Texts by key; those that begin with `avro.` are added. */
  readonly metadata: Readonly<Record<string, string>>;
  readonly records: readonly { readonly [name: string]: AvroValue }[];
}

/** `Obj` and the version of the format. */
export const magic = Buffer.from('Obj\x01', 'latin1');

export const syncBytes = 16;
