import type { Job } from '../job/job-schema.ts';
import type { IdList } from './id-list.ts';
import { Entries } from './entries.ts';

/** The entries up to the one that would start the next full call. */
export interface Batch {
  /** The part that all its entries belong to, from 0. */
  readonly part: number;
  /** True of the last batch of a part. The very last batch of the ids may end a part early, and says false. */
  readonly endsPart: boolean;
  /** True of the very last batch; known only to an export with a base, which needs it. */
  readonly isLast?: boolean;
  /** Released by the stage that has used them up. */
  readonly entries: Entries;
  /** The valid, first-seen ids among the entries, in order; empty only where a batch is closed early. */
  readonly ids: IdList;
}

export interface BatchShape {
  readonly idsPerCall: number;
  /** A part ends with the first batch at whose end it has so many entries. */
  readonly rowsPerPart: number;
  /** The part of the first entry; 0 by default. */
  readonly firstPart?: number;
}

/** How the batches of a job are cut. */
export function batchShape({ service, output }: Pick<Job, 'service' | 'output'>): BatchShape {
  return { idsPerCall: service.idsPerCall, rowsPerPart: output.rowsPerPart };
}

/**
 * After so many entries in a row that are not requested, a batch is closed before it is full: memory stays bounded, at the
 * price of one call that is not full.
 */
const mostIdleEntries = 200_000;

/** A batch has room for so many entries in addition to the ids of its call. */
const usualIdleEntries = 24;

/** Cuts the entries into full calls, and these into parts, across files. It depends on the entries alone, not on how they arrive. */
export async function* batchIds(
  blocks: AsyncIterable<Entries>,
  { idsPerCall, rowsPerPart, firstPart = 0 }: BatchShape,
): AsyncGenerator<Batch, void, void> {
  const spare: Entries[] = [];
  const take = (): Entries => Entries.take(idsPerCall + usualIdleEntries, spare);
  let entries = take();
  let ids = 0;
  let idle = 0;
  let part = firstPart;
  let entriesOfPart = 0;

  const cut = (): Batch => {
    entriesOfPart += entries.length;
    const endsPart = entriesOfPart >= rowsPerPart;
    const batch = { part, endsPart, entries, ids: entries.ids() };
    if (endsPart) {
      part += 1;
      entriesOfPart = 0;
    }
    entries = take();
    ids = 0;
    idle = 0;
    return batch;
  };

  for await (const block of blocks) {
    let from = 0;
    for (let index = 0; index < block.length; index += 1) {
      const isValid = block.isValid(index);
      if ((ids === idsPerCall && isValid) || idle >= mostIdleEntries) {
        entries.append(block, from, index);
        from = index;
        yield cut();
      }
      if (isValid) {
        ids += 1;
        idle = 0;
      } else idle += 1;
    }
    entries.append(block, from, block.length);
  }
  if (entries.length > 0) yield cut();
}

/** Leaves out the batches of parts that are not needed. */
export async function* batchesOf(
  batches: AsyncIterable<Batch>,
  isNeeded: (part: number) => boolean,
): AsyncGenerator<Batch, void, void> {
  for await (const batch of batches) {
    if (isNeeded(batch.part)) yield batch;
    else batch.entries.release();
  }
}

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
