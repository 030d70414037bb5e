import type { Job } from '../../../core/job/job-schema.ts';
import { systemClock } from '../../../lib/clock.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { SliceQueue } from '../../../wings/fleet/index.ts';

interface QueueUse {
  /** Makes the tables where they are missing. */
  readonly setUp: boolean;
  /** Of the program's time of grace. */
  readonly abort?: AbortSignal | undefined;
}

/** The queue of a job's export; undefined where it names no database. @throws {ExportError} `usage`, `unavailable` */
export async function openJobQueue({ fleet, output }: Job, use: QueueUse): Promise<SliceQueue | undefined> {
  if (fleet.database === undefined) return undefined;
  const { openSliceQueue } = await import('../../../wings/fleet/index.ts');
  const { dir, endpoint } = output;
  return openSliceQueue(fleet.database, { dir: dir.replace(/\/+$/, ''), endpoint, clock: systemClock, ...use });
}

/** Works with the queue of a job, where it names a database, and closes it. */
export async function withJobQueue(job: Job, use: QueueUse, work: (queue: SliceQueue) => Promise<void>): Promise<void> {
  const queue = await openJobQueue(job, use);
  if (queue === undefined) return;
  try {
    await work(queue);
  } finally {
    await queue.close();
  }
}

/** Removes the jobs of an export that is complete. What stays does no harm. */
export async function clearJobQueue(job: Job, abort?: AbortSignal): Promise<void> {
  await withJobQueue(job, { setUp: false, abort }, (queue) => queue.clear()).catch((error: unknown) => {
    if (!(error instanceof ExportError)) throw error;
  });
}
