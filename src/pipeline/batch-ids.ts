import type { IdEntry } from './id-entry.ts';

/** The ids of one call, with all entries of the input from the end of the batch before it to its own. */
export interface Batch {
  /** Number of the first entry, from 0 over all inputs. */
  readonly first: number;
  readonly entries: readonly IdEntry[];
  /** The valid, first-seen ids among the entries, in order. */
  readonly ids: readonly string[];
  /** Of a batch that is cut: how many of its ids belong to entries before the cut. They are asked for all the same. */
  readonly idsBefore?: number;
  /** The last part that an id of this batch belongs to: its answer is kept until that part is committed. */
  readonly part: number;
}

export interface BatchShape {
  readonly idsPerCall: number;
  readonly rowsPerPart: number;
}

/**
 * After so many entries in a row that are not asked for, a batch is closed before it is full: what waits in memory is
 * bounded, at the price of one call that is not full.
 */
const mostIdleEntries = 200_000;

/** Cuts the entries into full calls, across files and parts. */
export async function* batchIds(
  blocks: AsyncIterable<readonly IdEntry[]>,
  { idsPerCall, rowsPerPart }: BatchShape,
): AsyncGenerator<Batch, void, void> {
  let first = 0;
  let entries: IdEntry[] = [];
  let ids: string[] = [];
  let idle = 0;
  let last = 0;

  const cut = (): Batch => {
    const batch = { first, entries, ids, part: Math.floor(last / rowsPerPart) };
    first += entries.length;
    entries = [];
    ids = [];
    idle = 0;
    return batch;
  };

  for await (const block of blocks) {
    for (const entry of block) {
      // A full batch waits for the next id, so that the entries behind it come along.
      if (ids.length === idsPerCall && entry.sighting === 'valid') yield cut();
      if (idle >= mostIdleEntries) yield cut();
      entries.push(entry);
      if (entry.sighting === 'valid') {
        last = first + entries.length - 1;
        ids.push(entry.text);
        idle = 0;
      } else idle += 1;
    }
    if (ids.length === idsPerCall) yield cut();
  }
  if (entries.length > 0) yield cut();
}
