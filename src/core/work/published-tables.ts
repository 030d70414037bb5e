/** A table of a lake, for a catalogue: the address of its newest version, and the id of its current snapshot (null: none). */
export interface PublishedTable {
  readonly metadata: string;
  readonly snapshot: number | null;
}

/** By name. */
export type PublishedTables = Readonly<Record<string, PublishedTable>>;
