export const sightings = ['valid', 'invalid', 'duplicate'] as const;

/** What became of one entry of the input before any call. */
export type Sighting = (typeof sightings)[number];

/** One id as it was read. Entries are numbered by their order over all inputs: that order decides parts and rows. */
export interface IdEntry {
  /** The cleaned text: base58 of 32 bytes when valid; what stood there (at most 200 characters) when not. */
  readonly text: string;
  /** Index of the input it came from, in the order of reading. */
  readonly source: number;
  /** Line in that input, from 1 (for a JSON array the line on which the element starts; for Parquet the row). */
  readonly line: number;
  readonly sighting: Sighting;
  /** Why it is invalid; empty otherwise. */
  readonly reason: string;
}
