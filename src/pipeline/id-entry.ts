/** What became of one entry of the input before any call. */
export type Sighting = 'valid' | 'invalid' | 'duplicate';

/** One id as it was read. Entries are numbered by their order over all inputs: that order decides parts and rows. */
export interface IdEntry {
  /** The cleaned text: base58 of 32 bytes when valid; what stood there (at most 200 characters) when not. */
  readonly text: string;
  /** Index of the input it came from, in the order of reading. */
  readonly source: number;
  /** Line in that input, from 1 (for a JSON array the line on which the element starts; for Parquet the row). */
  readonly line: number;
  sighting: Sighting;
  /** Why it is invalid; empty otherwise. */
  readonly reason: string;
}

/** Entries that go down the flow together. */
export interface EntryBlock {
  readonly entries: IdEntry[];
  /** Four words for each valid entry, in their order: the hash of its id. */
  readonly hashes: Uint32Array;
}
