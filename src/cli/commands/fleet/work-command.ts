import { hostname } from 'node:os';
import type { Job } from '../../../core/job/job-schema.ts';
import { jobWarnings } from '../../../core/job/job-warnings.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { observeIn } from '../../../world/wings.ts';
import type { ExportOutcome } from '../../../core/run/export-outcome.ts';
import type {
  FleetSlices,
  FromShard,
  QueueSlices,
  Shard,
  SliceQueue,
  WorkRequest,
} from '../../../wings/fleet/index.ts';
import type { SliceSource } from '../../../core/run/homes/export-home.ts';
import type { ExportContext } from '../../../core/run/export-context.ts';
import type { Command, CommandLine } from '../../command.ts';
import { jobFlagGroups, jobNotes, jobOf, jobWords, stateGroup } from '../../job-flags.ts';
import { openServiceFor } from '../../open-service.ts';
import { takeKeyAway } from '../../../world/read-api-key.ts';
import { runFlags, runSettings } from '../../run-flags.ts';
import { runJob } from '../run-job.ts';
import { clearJobQueue, openJobQueue } from './job-queue.ts';
import { requireSharedBudget, shardFlag, shardOf } from './shard.ts';

/** `work`: a worker of an export that was enqueued. */
export const workCommand: Command = {
  usage: ['work <job.yaml> [--shard i/N] [--no-wait] [flags]'],
  about:
    'Exports slices that asset-export enqueue wrote into a bucket, alongside any number of other workers. Ends with 0 when every slice is done. The worker that finishes the last slice completes the export. While others hold the rest, a worker waits, and takes over from workers that died. With fleet.database and without --shard, a queue hands out the slices.',
  examples: [
    { line: 'work job.yaml', about: 'on each machine; workers may start and stop at any time' },
    { line: 'work job.yaml --shard 3/8', about: 'the fourth of eight: begins where the others do not' },
    { line: 'work job.yaml --shard /8', about: 'in a Kubernetes Indexed Job or an AWS Batch array' },
  ],
  words: jobWords,
  groups: [
    {
      title: 'This command',
      flags: [
        shardFlag,
        {
          name: 'wait',
          about: 'wait if other workers hold all remaining slices; with --no-wait, exit 11 instead',
          standard: 'on',
        },
        ...runFlags,
        ...stateGroup.flags,
      ],
    },
    ...jobFlagGroups(),
  ],
  notes: jobNotes,
  run: (args) => work(args),
};

async function work(args: CommandLine): Promise<number> {
  const { job, idsFolder } = jobOf(args);
  const shard = shardOf(args.text('shard'), args.terminal.env);
  requireSharedBudget(job, shard);
  const settings = runSettings(args);
  const environment = { ...args.terminal.env };
  takeKeyAway(args.terminal.env);
  const waits = args.value('wait') !== false;
  const open = await openServiceFor(job, args, { environment, abort: settings.signals.abort });
  const isQueued = args.text('shard') === undefined && job.fleet.database !== undefined;
  const place = isQueued ? anywhere() : shard;
  // As stable as a series of metrics wants it.
  const worker = args.text('shard') === undefined ? hostname() : String(shard.index);
  return runJob(
    { job, idsFolder, fresh: false },
    {
      open,
      observe: observeIn(args.terminal.env),
      ...settings,
      warnings: jobWarnings(job),
      make: async (context) => {
        const outcome = await makeSlices(
          { job, worker, workers: shard.count },
          { shard: place, waits },
          isQueued,
          context,
        );
        if (outcome.error === undefined) await clearJobQueue(job, context.abort);
        return outcome;
      },
    },
  );
}

/** Where a worker of a queue begins when the queue is empty: each elsewhere, so that they do not try the same slices first. */
function anywhere(): Shard {
  const count = 1_000_000;
  return { index: Math.floor(Math.random() * count), count };
}

async function makeSlices(
  request: Omit<WorkRequest, 'source'>,
  from: Omit<FromShard, 'slices'>,
  isQueued: boolean,
  context: ExportContext,
): Promise<ExportOutcome> {
  const { fromQueue, fromShard, workOnExport } = await import('../../../wings/fleet/index.ts');
  const tell = (message: string): void => {
    context.listener({ kind: 'warning', message });
  };
  const queue = isQueued ? await queueOrNone(request.job, context.abort, tell) : undefined;
  let taken: QueueSlices | undefined;
  let outcome: ExportOutcome | undefined;
  try {
    const source = (slices: FleetSlices): SliceSource => {
      const rest = fromShard({ ...from, slices });
      if (queue === undefined) return rest;
      taken = fromQueue({ queue, slices, rest, tell });
      return taken;
    };
    return (outcome = await workOnExport({ ...request, source }, context));
  } finally {
    await taken?.end(outcome?.error, context.clock);
    await queue?.close();
  }
}

/** Without a queue a worker still finds its slices. @throws {ExportError} `usage` when its package is missing */
async function queueOrNone(
  job: Job,
  abort: AbortSignal,
  tell: (message: string) => void,
): Promise<SliceQueue | undefined> {
  try {
    return await openJobQueue(job, { setUp: false, abort });
  } catch (error) {
    if (!(error instanceof ExportError) || error.exit === 'usage') throw error;
    tell(`${error.message}; slices are taken without it`);
    return undefined;
  }
}
