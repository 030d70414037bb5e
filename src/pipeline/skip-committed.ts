import type { Batch } from './batch-ids.ts';

/** Leaves out batches whose every entry lies in a committed part. A batch that straddles is kept whole: its answer is in the journal. */
export async function* skipCommitted(
  batches: AsyncIterable<Batch>,
  committedEntries: number,
): AsyncGenerator<Batch, void, void> {
  for await (const batch of batches) {
    if (batch.first + batch.entries.length > committedEntries) yield batch;
  }
}
