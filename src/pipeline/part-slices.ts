import type { BatchLookups, Lookup } from '../client/look-up-batch.ts';
import type { FetchedBatch } from './fetch-batches.ts';
import type { IdEntry } from './id-entry.ts';
import type { Need } from './needed-batches.ts';

/** The entries of one batch that lie in one part. */
export interface PartSlice {
  readonly part: number;
  readonly entries: readonly IdEntry[];
  /** What became of the valid ones, in their order. */
  readonly lookups: readonly Lookup[];
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
  for await (const { batch, found } of batches) {
    const { first, entries, idsBefore = 0 } = batch;
    let nextLookup = idsBefore;
    // Told once, also of a batch that is cut.
    let extras = found === undefined || idsBefore > 0 ? noExtras : extrasOf(found);
    for (let start = 0; start < entries.length; ) {
      const part = Math.floor((first + start) / rowsPerPart);
      const end = Math.min(entries.length, (part + 1) * rowsPerPart - first);
      const within = entries.slice(start, end);
      const lookups = found?.lookups.slice(nextLookup, nextLookup + validAmong(within)) ?? [];
      const hasIds = lookups.length > 0;
      if (isNeeded(part)) yield { part, entries: within, lookups, extras: hasIds ? extras : noExtras };
      if (hasIds) extras = noExtras;
      nextLookup += lookups.length;
      start = end;
    }
    // Whoever took the slices has made rows of them.
    found?.release();
  }
}

function validAmong(entries: readonly IdEntry[]): number {
  let valid = 0;
  for (const { sighting } of entries) if (sighting === 'valid') valid += 1;
  return valid;
}

function extrasOf({ counts }: BatchLookups): Extras {
  return {
    foreignRecords: counts.foreign,
    repeatedRecords: counts.repeated,
    recordsWithoutId: counts.idless,
    otherResponseIds: counts.otherResponseId,
  };
}
