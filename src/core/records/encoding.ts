/**
 * How an export is written; each has one, from its start to its repairs. 1 is that of version 0.1. With 2, Parquet files carry field
 * ids and larger dictionaries, and `changes` has the column `changed_at`.
 */
export const encodings = [1, 2] as const;
export type Encoding = (typeof encodings)[number];

/** That of every export that begins now. */
export const newEncoding: Encoding = 2;
