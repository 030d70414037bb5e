import { type EnqueueContext, enqueueExport } from '../../../src/wings/fleet/enqueue-export.ts';
import { fromShard } from '../../../src/wings/fleet/shard-slices.ts';
import { workOnExport } from '../../../src/wings/fleet/work-export.ts';
import type { ExportOutcome } from '../../../src/core/run/complete-export.ts';
import type { MakeExport } from '../../support/run-export.ts';
import { SmallBucket } from './small-bucket.ts';
import type { SmallRun } from './small-export.ts';

/** Commands of a fleet, on one machine. */
export const steps = {
  enqueue:
    ({ fresh = false, ...more }: Pick<EnqueueContext, 'memoryLimit'> & { readonly fresh?: boolean } = {}): MakeExport =>
    async ({ job, idsFolder }, context) => {
      const enqueued = await enqueueExport(
        { job, idsFolder, fresh },
        { ...context, ...more, onProgress: () => undefined },
      );
      return { ...nothingMade, elapsedMs: enqueued.put };
    },
  work:
    ({ index = 0, count = 1, waits = true } = {}): MakeExport =>
    ({ job }, context) =>
      workOnExport(
        {
          job,
          worker: String(index),
          workers: count,
          source: (slices) => fromShard({ slices, shard: { index, count }, waits }),
        },
        context,
      ),
};

const nothingMade: ExportOutcome = {
  state: 'unfinished',
  callsOfRun: 0,
  creditsOfRun: 0,
  elapsedMs: 0,
  columns: [],
  invalidSamples: [],
  account: {
    folder: '',
    rows: 0,
    fetched: 0,
    pending: 0,
    creditsLeft: null,
    unlisted: null,
    parts: 0,
    files: [],
    calls: 0,
    credits: 0,
    drift: [],
    counts: { read: 0, exported: 0, carried: 0, missing: 0, invalid: 0, duplicate: 0, failed: 0 },
    notes: {
      formulaCells: 0,
      replacedSurrogates: 0,
      foreignRecords: 0,
      repeatedRecords: 0,
      recordsWithoutId: 0,
      otherResponseIds: 0,
    },
  },
};

/** The small export in a bucket, enqueued and made by workers. Slices have two parts. */
export class SmallFleet extends SmallBucket {
  /** Enqueues, then works. */
  override run(run: SmallRun = {}): Promise<ExportOutcome | undefined> {
    return super.run({
      make: async (loaded, context) => {
        await steps.enqueue()(loaded, context);
        return steps.work()(loaded, context);
      },
      ...run,
    });
  }

  /** How many slices were put. */
  async enqueue(run: SmallRun = {}): Promise<number> {
    return (await this.run({ ...run, make: steps.enqueue() }))?.elapsedMs ?? -1;
  }
}
