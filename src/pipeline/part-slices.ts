import type { BatchLookups } from '../client/look-up-batch.ts';
import type { Lookups } from '../client/lookups.ts';
import type { Entries } from './entries.ts';
import type { FetchedBatch } from './fetch-batches.ts';
import type { Need } from './needed-batches.ts';

/** The entries of one batch that lie in one part. */
export interface PartSlice {
  readonly part: number;
  /** The entries of the whole batch; those from `start` up to `end` are of this part. */
  readonly entries: Entries;
  readonly start: number;
  readonly end: number;
  /** What became of the valid ones of the batch, in their order; absent when they were not asked for. */
  readonly lookups: Lookups | undefined;
  /** The place in `lookups` of the first valid one of this part. */
  readonly firstLookup: number;
  /** Records of the batch's answers that belong to no id; told with the slice that has its first id. */
  readonly extras: Extras;
}

export interface Extras {
  readonly foreignRecords: number;
  readonly repeatedRecords: number;
  readonly recordsWithoutId: number;
  readonly otherResponseIds: number;
}

const noExtras: Extras = { foreignRecords: 0, repeatedRecords: 0, recordsWithoutId: 0, otherResponseIds: 0 };

/** Cuts fetched batches at the bounds of parts, and drops what lies in parts that are not needed. */
export async function* partSlices(
  batches: AsyncIterable<FetchedBatch>,
  { rowsPerPart, isNeeded }: Need,
): AsyncGenerator<PartSlice, void, void> {
  for await (const { batch, found, release } of batches) {
    const { first, entries } = batch;
    let firstLookup = entries.validBetween(0, batch.start);
    // Told once, also of a batch that is cut.
    let extras = found === undefined || firstLookup > 0 ? noExtras : extrasOf(found);
    for (let { start } = batch; start < batch.end; ) {
      const part = Math.floor((first + start) / rowsPerPart);
      const end = Math.min(batch.end, (part + 1) * rowsPerPart - first);
      const ids = entries.validBetween(start, end);
      const slice = { part, entries, start, end, lookups: found?.lookups, firstLookup };
      if (isNeeded(part)) yield { ...slice, extras: ids > 0 ? extras : noExtras };
      if (ids > 0) extras = noExtras;
      firstLookup += ids;
      start = end;
    }
    // Whoever took the slices has made rows of them.
    release();
  }
}

function extrasOf({ counts }: BatchLookups): Extras {
  return {
    foreignRecords: counts.foreign,
    repeatedRecords: counts.repeated,
    recordsWithoutId: counts.idless,
    otherResponseIds: counts.otherResponseId,
  };
}
