import { hostname } from 'node:os';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { ExportOutcome } from '../../core/run/complete-export.ts';
import type { SliceSource, HeldSlice } from '../../core/run/homes/export-home.ts';
import type { RunWings } from '../../core/run/nights.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { systemClock, type Clock, nextUtcMidnight } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type EnqueueContext, type Enqueued, enqueueExport, type EnqueueRequest } from './enqueue-export.ts';
import type { FleetSlices } from './fleet-slices.ts';
import { openSliceQueue } from './queue/bullmq-queue.ts';
import type { SliceQueue, SliceJob } from './queue/slice-queue.ts';
import { fromShard, type Shard } from './shard-slices.ts';
import { workOnExport } from './work-export.ts';
import { ExportIsComplete } from '../../core/run/homes/home-start.ts';

/** Puts the slices of an export into its bucket and, where the job names a database, into a queue. @throws {ExportError} */
export async function enqueueJob(request: EnqueueRequest, context: EnqueueContext): Promise<Enqueued> {
  const { job, fresh } = request;
  // A queue that cannot be used is known before the ids are read.
  await withQueue(job, { setUp: true }, () => Promise.resolve());
  const enqueued = await enqueueExport(request, context);
  if (enqueued.state === 'complete') return enqueued;
  // A job for each slice. Those of slices that are done are finished by the worker that takes them.
  await withQueue(job, { setUp: true }, async (queue) => {
    if (fresh) await queue.clear();
    await queue.add(Array.from({ length: enqueued.slices }, (_, slice) => slice));
  });
  return enqueued;
}

/** Makes slices of an export, alongside other workers. @throws {ExportError} */
export async function workOnJob(
  work: {
    readonly job: Job;
    /** Where it begins. Unless given, a queue hands out the slices, where the job names a database. */
    readonly shard: Shard | undefined;
    /** Whether to wait while others hold all slices that are left. */
    readonly waits: boolean;
  },
  context: ExportContext & RunWings,
): Promise<ExportOutcome> {
  const { job, shard, waits } = work;
  const isQueued = shard === undefined && job.fleet.database !== undefined;
  const from = { shard: isQueued ? anywhere() : (shard ?? onlyShard), waits };
  const tell = (message: string): void => {
    context.listener({ kind: 'warning', message });
  };
  const queue = isQueued ? await queueOrNone(job, context.abort, tell) : undefined;
  let taken: QueueSlices | undefined;
  let outcome: ExportOutcome | undefined;
  const source = (slices: FleetSlices): SliceSource => {
    const rest = fromShard({ ...from, slices });
    if (queue === undefined) return rest;
    taken = fromQueue(queue, slices, { rest, tell });
    return taken;
  };
  // As stable as a series of metrics wants it.
  const worker = shard === undefined ? hostname() : String(shard.index);
  try {
    outcome = await workOnExport({ job, worker, workers: shard?.count ?? 1, source }, context);
  } finally {
    await taken?.end(outcome?.error, context.clock);
    await queue?.close();
  }
  if (outcome.error === undefined) await clearQueue(job, context.abort);
  return outcome;
}

const onlyShard: Shard = { index: 0, count: 1 };

/** Where a worker of a queue begins when the queue is empty: each elsewhere, so that they do not try the same slices first. */
function anywhere(): Shard {
  const count = 1_000_000;
  return { index: Math.floor(Math.random() * count), count };
}

interface QueueUse {
  /** Makes the tables where they are missing. */
  readonly setUp: boolean;
  /** Of the program's time of grace. */
  readonly abort?: AbortSignal | undefined;
}

/** The queue of a job's export; undefined where it names no database. @throws {ExportError} `usage`, `unavailable` */
async function openQueue({ fleet, output }: Job, use: QueueUse): Promise<SliceQueue | undefined> {
  if (fleet.database === undefined) return undefined;
  const { dir, endpoint } = output;
  return openSliceQueue(fleet.database, { dir: dir.replace(/\/+$/, ''), endpoint, clock: systemClock, ...use });
}

/** Works with the queue of a job, where it names a database, and closes it. */
async function withQueue(job: Job, use: QueueUse, work: (queue: SliceQueue) => Promise<void>): Promise<void> {
  const queue = await openQueue(job, use);
  if (queue === undefined) return;
  try {
    await work(queue);
  } finally {
    await queue.close();
  }
}

/** Removes the jobs of an export that is complete. What stays does no harm. */
async function clearQueue(job: Job, abort?: AbortSignal): Promise<void> {
  await withQueue(job, { setUp: false, abort }, (queue) => queue.clear()).catch((error: unknown) => {
    if (!(error instanceof ExportError)) throw error;
  });
}

/** Without a queue a worker still finds its slices. @throws {ExportError} `usage` when its package is missing */
async function queueOrNone(
  job: Job,
  abort: AbortSignal,
  tell: (message: string) => void,
): Promise<SliceQueue | undefined> {
  try {
    return await openQueue(job, { setUp: false, abort });
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit === 'usage') throw error;
    tell(`${error.message}; slices are taken without it`);
    return undefined;
  }
}

/** Slices in the order of a queue. The queue only hands out numbers: the log of a slice says whether it is free. */
interface QueueSlices extends SliceSource {
  /** Gives the job of a slice that was not finished to others; where credits are spent, from 00:00 UTC on. */
  end(error: ExportError | undefined, clock: Pick<Clock, 'now'>): Promise<void>;
}

/**
 * `rest` gives the slices that no job is left for: those of workers that died, and of jobs that were lost. `tell` takes a warning: the
 * queue failed.
 */
export function fromQueue(
  queue: SliceQueue,
  slices: Pick<FleetSlices, 'all' | 'log' | 'tryClaim'>,
  { rest, tell }: { readonly rest: SliceSource; readonly tell: (message: string) => void },
): QueueSlices {
  let job: SliceJob | undefined;
  let isTold = false;

  /** A queue that fails stops nothing: the logs of the slices are enough. */
  async function tried<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ExportError)) throw error;
      if (!isTold) tell(`${error.message}; meanwhile slices are taken without it`);
      isTold = true;
      return undefined;
    }
  }

  async function endJob(how: (ended: SliceJob) => Promise<void>): Promise<void> {
    const ended = job;
    job = undefined;
    if (ended !== undefined) await tried(() => how(ended));
  }

  async function claimUnlessDone(slice: number, stop: AbortSignal): Promise<HeldSlice | undefined> {
    if (slices.all[slice] === undefined || (await slices.log(slice).refresh()).isDone) return undefined;
    return slices.tryClaim(slice, stop, 'skip');
  }

  async function nextOfQueue(stop: AbortSignal): Promise<HeldSlice | undefined> {
    for (;;) {
      stop.throwIfAborted();
      job = await tried(() => queue.take());
      if (job === undefined) return undefined;
      const held = await claimUnlessDone(job.slice, stop);
      if (held !== undefined) return held;
      await endJob((ended) => ended.finish());
    }
  }

  return {
    next: async (stop) => {
      // The slice before is done, or another worker has it.
      await endJob((ended) => ended.finish());
      try {
        return (await nextOfQueue(stop)) ?? (await rest.next(stop));
      } catch (error) {
        if (error instanceof ExportIsComplete) return undefined;
        throw error;
      }
    },
    end: (error, clock) =>
      endJob((ended) => ended.giveBack(error?.exit === 'spent' ? nextUtcMidnight(clock.now()) : undefined)),
  };
}
