import type { RecordPlan } from '../assets/scan/record-plan.ts';
import type { AssetClient, AssetFlags } from '../client/asset-client.ts';
import { type BatchLookups, lookUpBatch } from '../client/look-up-batch.ts';
import { mapOrdered } from '../lib/map-ordered.ts';
import type { Batch } from './batch-ids.ts';
import { HeldBytes, type Holding } from './held-bytes.ts';

/** A batch and what became of each of its ids. */
export interface FetchedBatch {
  readonly batch: Batch;
  /** Absent for a batch without ids. */
  readonly found: BatchLookups | undefined;
  /** Gives the memory of both back: from then on neither may be read. */
  readonly release: () => void;
}

export interface FetchOptions {
  readonly client: AssetClient;
  readonly flags: AssetFlags;
  readonly plan: RecordPlan;
  /** May ids that `getAssets` did not return be asked for one by one. */
  readonly singles: boolean;
  /** Most calls at once. */
  readonly concurrency: number;
  /** No batch but the first in line begins while entries and answers that are not written, and answers in flight, are more than this. */
  readonly mostBytes: number;
  readonly onHolding: (holding: Holding) => void;
  /** Called when a batch fails, or when nobody waits for the rest: nothing new should begin. */
  readonly halt: (reason: unknown) => void;
}

/** What is left undone because nobody waits for it: never the cause, always a consequence. */
export class NobodyWaits extends Error {
  constructor() {
    super('the export has stopped');
    this.name = 'NobodyWaits';
  }
}

/** Asks for every batch, several at once, and yields them in order. */
export async function* fetchBatches(
  batches: AsyncIterable<Batch>,
  { client, flags, plan, singles, concurrency, mostBytes, onHolding, halt }: FetchOptions,
): AsyncGenerator<FetchedBatch, void, void> {
  // A little more than calls, so that slots stay full while the first one is awaited.
  const held = new HeldBytes({ mostBytes, firstBatches: concurrency + 4, onChange: onHolding });
  const fetched = mapOrdered(batches, {
    limit: 4 * (concurrency + 4),
    hasRoom: () => held.hasRoom(),
    onLeft: () => {
      halt(new NobodyWaits());
    },
    map: async (batch) => {
      const entryBytes = batch.entries.bytes;
      if (batch.ids.length === 0) {
        held.waits(entryBytes);
        return { batch, found: undefined, bytes: entryBytes };
      }
      const counted = countingBytes(client);
      held.begin(entryBytes);
      try {
        const found = await lookUpBatch(counted, { ids: batch.ids, flags, part: batch.part, singles, plan });
        return { batch, found, bytes: entryBytes + counted.bytes() };
      } catch (error) {
        halt(error);
        throw error;
      } finally {
        held.arrived(counted.bytes());
      }
    },
  });
  for await (const { batch, found, bytes } of fetched) {
    const release = (): void => {
      found?.release();
      batch.entries.release();
    };
    yield { batch, found, release };
    // Whoever asks for the next has written this one.
    held.written(bytes);
  }
}

interface CountingClient extends AssetClient {
  bytes(): number;
}

function countingBytes(client: AssetClient): CountingClient {
  let bytes = 0;
  return {
    ask: async (call) => {
      const answer = await client.ask(call);
      if (answer.kind === 'records') bytes += answer.body.length;
      return answer;
    },
    bytes: () => bytes,
  };
}
