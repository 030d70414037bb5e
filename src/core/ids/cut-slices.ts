import { type BatchShape, batchIds } from './batch-ids.ts';
import type { Entries } from './entries.ts';

export interface SliceShape extends BatchShape {
  /** A slice ends with the first part at whose end it has so many entries. */
  readonly entriesPerSlice: number;
}

/** The entries of consecutive whole parts. */
export interface CutSlice {
  /** From 0. */
  readonly slice: number;
  readonly firstPart: number;
  /** Read once, before the next slice is requested; what is left then is skipped. */
  readonly entries: () => AsyncIterable<Entries>;
  /** Whether no slice follows: known when its entries are read. */
  readonly isLast?: () => boolean;
}

/** Cuts the entries into slices at the ends of parts. Of no entries it makes one slice. */
export async function* cutSlices(
  blocks: AsyncIterable<Entries>,
  shape: SliceShape,
): AsyncGenerator<CutSlice, void, void> {
  const batches = batchIds(blocks, shape);
  let next = await batches.next();
  try {
    for (let slice = 0; slice === 0 || next.done !== true; slice += 1) {
      let left = shape.entriesPerSlice;
      async function* entriesOfSlice(): AsyncGenerator<Entries, void, void> {
        while (next.done !== true) {
          const { entries, endsPart } = next.value;
          left -= entries.length;
          const isLast = endsPart && left <= 0;
          yield entries;
          entries.release();
          next = await batches.next();
          if (isLast) return;
        }
      }
      const entries = entriesOfSlice();
      yield {
        slice,
        firstPart: next.done === true ? 0 : next.value.part,
        entries: () => entries,
        isLast: () => next.done === true,
      };
      while ((await entries.next()).done !== true) continue;
    }
  } finally {
    await batches.return();
  }
}
