import { type AssetFlags, noRecords } from '../client/asset-client.ts';
import type { KeptAnswers } from '../../places/scratch/journal-entries.ts';
import type { Batch } from '../ids/batch-ids.ts';

/** Counts the calls that batches need, and sends none. */
export interface CallCounter {
  add(batch: Batch): Promise<void>;
  calls(): number;
}

export interface CountingOptions {
  readonly kept: KeptAnswers;
  readonly flags: AssetFlags;
  /** Most ids a call that an earlier run found out; absent: not known. */
  readonly initialCap: number | undefined;
}

/**
 * Takes the way of a real run, halving included, where answers are kept or calls are larger than the service is known to take;
 * all others are counted as if they went well.
 */
export function countCalls({ kept, flags, initialCap = Infinity }: CountingOptions): CallCounter {
  let calls = 0;
  const hasKept = kept.size() > 0;
  let way: Promise<(batch: Batch) => Promise<unknown>> | undefined;
  const openWay = async (): Promise<(batch: Batch) => Promise<unknown>> => {
    const { lookUpBatch } = await import('../client/look-up-batch.ts');
    const { withJournal } = await import('../client/policies/with-journal.ts');
    const { withSizeGuard } = await import('../client/policies/with-size-guard.ts');
    const counting = {
      ask: () => {
        calls += 1;
        return Promise.resolve(noRecords);
      },
    };
    const guard = withSizeGuard(counting, { initialCap });
    const replaying = withJournal(guard, {
      journal: { find: (key) => kept.find(key), append: () => Promise.resolve() },
      onReplayed: guard.learn,
    });
    // To look for an answer means to hash its call, and there may be many.
    const client = hasKept ? replaying : guard;
    return ({ ids, part }) => lookUpBatch(client, { ids, part, flags, singles: false, reader: undefined });
  };
  return {
    add: async (batch) => {
      const { length } = batch.ids;
      if (length === 0) return;
      if (!hasKept && length <= initialCap) {
        calls += 1;
        return;
      }
      way ??= openWay();
      await (await way)(batch);
    },
    calls: () => calls,
  };
}
