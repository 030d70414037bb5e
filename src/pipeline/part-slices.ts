import type { Lookup } from '../client/look-up-batch.ts';
import type { FetchedBatch } from './fetch-batches.ts';
import type { IdEntry } from './id-entry.ts';
import type { Need } from './needed-batches.ts';

/** An entry and, when it was asked for, what became of it. */
export interface EntryFate {
  readonly entry: IdEntry;
  readonly lookup: Lookup | undefined;
}

/** The entries of one batch that lie in one part. */
export interface PartSlice {
  readonly part: number;
  readonly fates: readonly EntryFate[];
  /** Records of the batch's answers that belong to no id; told with its first slice. */
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
    let extras: Extras =
      found === undefined
        ? noExtras
        : {
            foreignRecords: found.counts.foreign,
            repeatedRecords: found.counts.repeated,
            recordsWithoutId: found.counts.idless,
            otherResponseIds: found.counts.otherResponseId,
          };
    let nextLookup = 0;
    let fates: EntryFate[] = [];
    let part = Math.floor(batch.first / rowsPerPart);
    for (const [index, entry] of batch.entries.entries()) {
      const itsPart = Math.floor((batch.first + index) / rowsPerPart);
      if (itsPart !== part) {
        if (isNeeded(part)) yield { part, fates, extras };
        extras = noExtras;
        fates = [];
        part = itsPart;
      }
      const lookup = entry.sighting === 'valid' ? found?.lookups[nextLookup++] : undefined;
      fates.push({ entry, lookup });
    }
    if (isNeeded(part) && fates.length > 0) yield { part, fates, extras };
    // Whoever took the slices has made rows of them.
    found?.release();
  }
}
