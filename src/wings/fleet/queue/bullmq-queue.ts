import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Job } from 'bullmq';
import type { Clock } from '../../../lib/clock.ts';
import { ExportError, messageOf } from '../../../lib/export-error.ts';
import { loadOptional } from '../../../lib/packages/optional-packages.ts';
import { sha256 } from '../../../lib/hash/sha256.ts';
import { LastSecond, LinkedAbort, untilAborted } from '../../../lib/end-work.ts';
import type { SliceJob, SliceQueue } from './slice-queue.ts';

/** In the shared database, beside the ledger's schema. */
const schema = 'asset_export_queue';

/** A job whose worker died is handed out again after this time. */
const lockMs = 120_000;

/** Jobs that one statement adds. */
const jobsAtOnce = 1000;

/** PostgreSQL's largest integer: a worker may die any number of times. */
const withoutBound = 2_147_483_647;

export interface QueueOptions {
  /** Address of the bucket of the export, and of its store. */
  readonly dir: string;
  readonly endpoint?: string | undefined;
  readonly clock: Clock;
  /** Aborted: statements get one more second. */
  readonly abort?: AbortSignal | undefined;
  /** Makes the tables where they are missing. */
  readonly setUp: boolean;
  readonly lockMs?: number;
}

interface SliceData {
  readonly dir: string;
  readonly slice: number;
}

/**
 * The queue of an export in PostgreSQL.
 * @throws {ExportError} `usage` when a package is missing, `unavailable` when the database or its tables cannot be used
 */
export async function openSliceQueue(database: string, options: QueueOptions): Promise<SliceQueue> {
  const { dir, endpoint = '', clock } = options;
  const hash = sha256(`${endpoint} ${dir}`).slice(0, 16);
  const lock = options.lockMs ?? lockMs;
  const last = new LastSecond(options.abort);
  const told = <T>(work: Promise<T>): Promise<T> => answered(work, last.signal);
  const { queue, worker } = await told(connect(database, hash, lock, options.setUp));
  const closing = new AbortController();

  /** Keeps others from a job while this process lives. */
  async function keep(job: Job<SliceData>, token: string, ended: AbortSignal): Promise<void> {
    for (;;) {
      await clock.sleep(lock / 4, ended);
      // Where it fails, the job may be handed out twice, which the log of the slice settles.
      await job.extendLock(token, lock).catch(() => undefined);
    }
  }

  return {
    add: async (slices) => {
      for (let first = 0; first < slices.length; first += jobsAtOnce) {
        const jobs = slices
          .slice(first, first + jobsAtOnce)
          .map((slice) => ({ name: 'slice', data: { dir, slice }, opts: { jobId: `${hash}-${slice}` } }));
        await told(queue.addBulk(jobs));
      }
    },
    take: async () => {
      const token = randomUUID();
      const job = (await told(worker.getNextJob(token, { block: false }))) as Job<SliceData> | undefined;
      return job === undefined ? undefined : takenJob(job, token);
    },
    clear: () => told(queue.obliterate({ force: true })),
    close: async () => {
      closing.abort();
      const closed = Promise.allSettled([worker.close(true), queue.close()]);
      await untilAborted(closed, last.signal).catch(() => undefined);
      last.unlink();
    },
  };

  function takenJob(job: Job<SliceData>, token: string): SliceJob {
    const ended = new LinkedAbort(closing.signal);
    keep(job, token, ended.signal).catch(() => undefined);
    const end = async (work: () => Promise<unknown>): Promise<void> => {
      ended.abort();
      await told(work());
    };
    return {
      slice: job.data.slice,
      finish: () => end(() => job.moveToCompleted(undefined, token, false)),
      giveBack: (notBeforeMs) =>
        end(() => (notBeforeMs === undefined ? job.moveToWait(token) : job.moveToDelayed(notBeforeMs, token))),
    };
  }
}

/** @throws {ExportError} `unavailable` when the database refuses, or the signal aborts first */
async function answered<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await untilAborted(work, signal);
  } catch (error) {
    throw unusable(signal.aborted ? new Error('no answer') : error);
  }
}

async function connect(database: string, name: string, lock: number, setUp: boolean) {
  const { Queue, Worker } = await loadBullmq();
  const limits = { max: 1, keepAlive: true, connectionTimeoutMillis: 10_000, query_timeout: 30_000 };
  const connection = { connectionString: database, schema, ...limits };
  const queue = new Queue<SliceData>(name, {
    connection: { ...connection, migrate: setUp },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true },
  });
  // Each statement reports its own error.
  queue.on('error', () => undefined);
  try {
    await queue.waitUntilReady();
    const worker = new Worker<SliceData>(name, null, {
      connection,
      autorun: false,
      lockDuration: lock,
      stalledInterval: lock / 4,
      maxStalledCount: withoutBound,
    });
    worker.on('error', () => undefined);
    await worker.waitUntilReady();
    await worker.startStalledCheckTimer();
    return { queue, worker };
  } catch (error) {
    await queue.close().catch(() => undefined);
    throw unusable(error);
  }
}

/** @throws {ExportError} `usage` when a package is not installed */
export async function requireQueue(): Promise<void> {
  await loadBullmq();
}

function loadBullmq() {
  return loadOptional({
    what: 'the queue of a fleet',
    packages: ['bullmq', 'pg'],
    load: async () => {
      const { createPostgresBackend, withBackend } = await import('bullmq');
      // It looks for its own `pg` when it connects, and says that the database cannot be used where there is none.
      createRequire(import.meta.resolve('bullmq')).resolve('pg');
      return withBackend(createPostgresBackend);
    },
  });
}

function unusable(error: unknown): ExportError {
  if (error instanceof ExportError) return error;
  return new ExportError('unavailable', `the queue in the shared database cannot be used: ${messageOf(error)}`, {
    todo: 'Check the database and the rights of its user, then run the same command again. Slices and files are not affected.',
    cause: error,
  });
}
