import { type Batch, noIds } from './batch-ids.ts';

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
    const lastPart = partOf(first + entries.length - 1);
    let touched = 0;
    let asks = false;
    for (let part = partOf(first); part <= lastPart; part += 1) {
      if (!isNeeded(part)) continue;
      touched += 1;
      const start = Math.max(0, part * rowsPerPart - first);
      asks ||= entries.validBetween(start, Math.min(entries.length, (part + 1) * rowsPerPart - first)) > 0;
    }
    if (touched === 0) entries.release();
    else yield asks ? batch : { ...batch, ids: noIds };
  }
}
