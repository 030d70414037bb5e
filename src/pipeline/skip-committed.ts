import type { Batch } from './batch-ids.ts';

export interface Committed {
  readonly parts: number;
  /** Entries in those parts. */
  readonly entries: number;
}

/**
 * Leaves out batches whose every entry lies in a committed part. Of one that goes on behind them, but whose every id lies
 * in them, the ids are left out: its answer is needed no more. One whose ids straddle is kept whole: its answer is in the
 * journal.
 */
export async function* skipCommitted(
  batches: AsyncIterable<Batch>,
  { parts, entries }: Committed,
): AsyncGenerator<Batch, void, void> {
  for await (const batch of batches) {
    if (batch.first + batch.entries.length <= entries) continue;
    yield batch.part < parts ? { ...batch, ids: [] } : batch;
  }
}
