/**
 * What a column holds, and how one value of it (a `Cell`) looks in memory:
 * - `string`: a string
 * - `boolean`: a boolean
 * - `int64`: a number when it is a safe integer, else a bigint between -2^63 and 2^63-1
 * - `double`: a finite number (-0 is kept)
 * - `decimal`: decimal(20,0), a u64: a number when it is a safe integer, else a bigint
 * - `json`: JSON text on one line, in which a lone surrogate stands as its \u escape; never the text `null`
 * Every cell may be null, except in columns that say otherwise.
 */
export type ColumnType = 'string' | 'boolean' | 'int64' | 'double' | 'decimal' | 'json';

export type Cell = string | number | bigint | boolean | null;

/** The cells of one row, in the order of the table's columns. */
export type Row = readonly Cell[];

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
  readonly nullable: boolean;
  /** Where the value stands in the record (`['content', '$schema']`); empty for a column that is derived, and `extra`. */
  readonly path: readonly string[];
  /** One sentence for the documents and the DDL's comments. */
  readonly about: string;
  /** The values that the specification allows; others are kept and counted. */
  readonly values?: readonly string[];
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Child tables: where the array stands in the record whose elements are the rows; the columns' paths begin there. */
  readonly list?: readonly string[];
}
