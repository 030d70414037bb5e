/** How the files of an export are written. Raise it with any change of their bytes: exports of another encoding are refused. */
export const currentEncoding = 2;

/**
 * What a column holds, and how one value of it (a `Cell`) looks in memory:
 * - `string`: a string
 * - `boolean`: a boolean
 * - `int64`: a number when it is a safe integer, else a bigint between -2^63 and 2^63-1
 * - `double`: a finite number (-0 is kept)
 * - `decimal`: decimal(20,0), a u64: a number when it is a safe integer, else a bigint
 * - `json`: JSON text on one line, in which a lone surrogate stands as its \u escape; never the text `null`
 * - `timestamp`: whole microseconds since 1970-01-01 UTC, a safe integer
 * Every cell may be null, except in columns that say otherwise.
 */
export type ColumnType = (typeof columnTypes)[number];

export const columnTypes = ['string', 'boolean', 'int64', 'double', 'decimal', 'json', 'timestamp'] as const;

export type Cell = string | number | bigint | boolean | null;

/** What a cell of a type is, where it is not null. */
type CellOf<T extends ColumnType> = T extends 'boolean'
  ? boolean
  : T extends 'int64' | 'decimal'
    ? number | bigint
    : T extends 'double' | 'timestamp'
      ? number
      : string;

/** A row of a table with these columns, by their names. */
export type RowOf<C extends readonly Column[]> = {
  readonly [K in C[number] as K['name']]: CellOf<K['type']> | (K['nullable'] extends false ? never : null);
};

/** The cells of one row, by the names of its columns. */
export type NamedRow = Readonly<Record<string, Cell>>;

/** The cells of one row, in the order of the table's columns. */
export type Row = readonly Cell[];

export interface Column<N extends string = string, T extends ColumnType = ColumnType, Null extends boolean = boolean> {
  readonly name: N;
  /** What Parquet files and Iceberg tables know the column by, whatever it is called (`fieldsOf`). Only columns of tables have one. */
  readonly fieldId?: number;
  readonly type: T;
  readonly nullable: Null;
  /** Where the value stands in the record (`['content', '$schema']`); empty for a column that is derived, and `extra`. */
  readonly path: readonly string[];
  /** One sentence for the documents and the DDL's comments. */
  readonly about: string;
  /** The values that the specification allows; others are kept and counted. */
  readonly values?: readonly string[];
  /** What the column is called in the column table, where a job gave it another name. */
  readonly from?: string;
  /** Of a finished export: bytes of its longest text. */
  readonly maxBytes?: number;
}

/** Whether the values of a column are texts of any length. */
export function isTextColumn({ type }: Pick<Column, 'type'>): boolean {
  return type === 'string' || type === 'json';
}

/** The name of a column in the column table, whatever a job called it. */
export function wholeName({ from, name }: { readonly name: string; readonly from?: string | undefined }): string {
  return from ?? name;
}

/** Whether a column of `assets` or `changes` holds the id of the asset. */
export function isIdColumn(column: Pick<Column, 'name' | 'from'>): boolean {
  return wholeName(column) === 'id';
}

export interface Table<C extends readonly Column[] = readonly Column[], N extends string = string> {
  readonly name: N;
  readonly columns: C;
  /** Columns whose values identify a row, for a database that is to hold it to that. */
  readonly key?: readonly string[];
  /** Child tables: where the array stands in the record whose elements are the rows; the columns' paths begin there. */
  readonly list?: readonly string[];
  /** Only elements whose member has this value are rows; the member has no column, as the table implies it. */
  readonly where?: { readonly member: string; readonly value: string };
}

/**
 * The columns of a table in their order, with the field ids by which Parquet and Iceberg know them.
 * @throws {Error} for a column without an id: those of `unexported`, `ids` and raw files are in no Parquet file
 */
export function fieldsOf({ columns }: Pick<Table, 'columns'>): { readonly id: number; readonly column: Column }[] {
  return columns.map((column) => {
    if (column.fieldId === undefined) throw new Error(`column ${column.name} has no field id`);
    return { id: column.fieldId, column };
  });
}
