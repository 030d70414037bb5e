import { type Clock, nextUtcMidnight } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { SliceJob, SliceQueue } from './queue/slice-queue.ts';
import { ExportIsComplete } from '../../core/run/homes/home-start.ts';
import type { HeldSlice, SliceSource } from '../../core/run/homes/export-home.ts';
import type { FleetSlices } from './fleet-slices.ts';

export interface FromQueue {
  readonly queue: SliceQueue;
  readonly slices: Pick<FleetSlices, 'all' | 'log' | 'claim'>;
  /** Gives the slices that no job is left for: those of workers that died, and of jobs that were lost. */
  readonly rest: SliceSource;
  /** Takes a warning: the queue failed. */
  readonly tell: (message: string) => void;
}

/** Slices in the order of a queue. The queue only hands out numbers: the log of a slice says whether it is free. */
export interface QueueSlices extends SliceSource {
  /** Gives the job of a slice that was not finished to others; where credits are spent, from 00:00 UTC on. */
  end(error: ExportError | undefined, clock: Pick<Clock, 'now'>): Promise<void>;
}

export function fromQueue({ queue, slices, rest, tell }: FromQueue): QueueSlices {
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

  async function claim(slice: number, stop: AbortSignal): Promise<HeldSlice | undefined> {
    if (slices.all[slice] === undefined || (await slices.log(slice).refresh()).isDone) return undefined;
    return slices.claim(slice, stop, 'skip');
  }

  async function nextOfQueue(stop: AbortSignal): Promise<HeldSlice | undefined> {
    for (;;) {
      stop.throwIfAborted();
      job = await tried(() => queue.take());
      if (job === undefined) return undefined;
      const held = await claim(job.slice, stop);
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
