import type { RecordPlan } from '../assets/scan/record-plan.ts';
import type { AssetClient, AssetFlags } from '../client/asset-client.ts';
import { type BatchLookups, lookUpBatch } from '../client/look-up-batch.ts';
import { mapOrdered } from '../lib/map-ordered.ts';
import type { Batch } from './batch-ids.ts';

/** A batch and what became of each of its ids. */
export interface FetchedBatch {
  readonly batch: Batch;
  /** Absent for a batch without ids. */
  readonly found: BatchLookups | undefined;
}

export interface FetchOptions {
  readonly client: AssetClient;
  readonly flags: AssetFlags;
  readonly plan: RecordPlan;
  /** May ids that `getAssets` did not return be asked for one by one. */
  readonly singles: boolean;
  /** Batches under way at once: a little more than calls, so that slots stay full while the first one is awaited. */
  readonly ahead: number;
  /** Called when a batch fails, or when nobody waits for the rest: nothing new should begin. */
  readonly halt: (reason: unknown) => void;
}

/** Asks for every batch, several at once, and yields them in order. */
export function fetchBatches(
  batches: AsyncIterable<Batch>,
  { client, flags, plan, singles, ahead, halt }: FetchOptions,
): AsyncGenerator<FetchedBatch, void, void> {
  return mapOrdered(batches, {
    limit: ahead,
    onLeft: () => {
      halt(new Error('the export has stopped'));
    },
    map: async (batch) => {
      if (batch.ids.length === 0) return { batch, found: undefined };
      try {
        return { batch, found: await lookUpBatch(client, { ids: batch.ids, flags, part: batch.part, singles, plan }) };
      } catch (error) {
        halt(error);
        throw error;
      }
    },
  });
}
