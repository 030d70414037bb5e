import type { AssetFlags } from '../client/asset-client.ts';
import { lookUpBatch } from '../client/look-up-batch.ts';
import { noRecords } from '../client/no-records.ts';
import { withJournal } from '../client/with-journal.ts';
import type { KeptAnswers } from '../store/journal-entries.ts';
import type { Batch } from './batch-ids.ts';

/** Counts the calls that batches need, and sends none. */
export interface CallCounter {
  add(batch: Batch): Promise<void>;
  calls(): number;
}

/** Takes the way of a real run, halving included, where answers are kept; all others are counted as if they went well. */
export function countCalls(kept: KeptAnswers, flags: AssetFlags): CallCounter {
  let calls = 0;
  const counting = {
    ask: () => {
      calls += 1;
      return Promise.resolve(noRecords);
    },
  };
  const client = withJournal(counting, {
    journal: { find: (key) => kept.find(key), append: () => Promise.resolve() },
  });
  return {
    add: async ({ ids, part }) => {
      if (ids.length === 0) return;
      if (kept.size() === 0) calls += 1;
      else await lookUpBatch(client, { ids, part, flags, singles: false });
    },
    calls: () => calls,
  };
}
