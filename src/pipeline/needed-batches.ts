import type { Batch } from './batch-ids.ts';

export interface Need {
  readonly rowsPerPart: number;
  /** Whether the files of a part are to be made. */
  readonly isNeeded: (part: number) => boolean;
}

/**
 * Leaves out batches that touch no part that is needed. Of one that does, but none of whose ids lies in such a part, the
 * ids are left out: its answer is needed no more. One whose ids straddle is kept whole: in a run that goes on, its answer
 * is in the journal.
 */
export async function* neededBatches(
  batches: AsyncIterable<Batch>,
  { rowsPerPart, isNeeded }: Need,
): AsyncGenerator<Batch, void, void> {
  const partOf = (entry: number): number => Math.floor(entry / rowsPerPart);
  for await (const batch of batches) {
    const { first, entries } = batch;
    const last = partOf(first + entries.length - 1);
    let touched = 0;
    for (let part = partOf(first); part <= last; part += 1) if (isNeeded(part)) touched += 1;
    if (touched === 0) continue;
    const isWhole = touched === last - partOf(first) + 1;
    const asks =
      isWhole || entries.some((entry, index) => entry.sighting === 'valid' && isNeeded(partOf(first + index)));
    yield asks ? batch : { ...batch, ids: [] };
  }
}
