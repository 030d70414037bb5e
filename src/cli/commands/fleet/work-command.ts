import { jobWarnings } from '../../../core/job/job-warnings.ts';
import { observeIn } from '../../../world/wings.ts';
import type { CommandLine } from '../../command.ts';
import { jobCommand, jobOf, stateGroup } from '../../job-flags.ts';
import { openServiceFor } from '../../open-service.ts';
import { takeKeyAway } from '../../../world/read-api-key.ts';
import { runFlags, runSettings } from '../../run-flags.ts';
import { runJob } from '../run-job.ts';
import { requireSharedBudget, shardFlag, shardOf } from './shard.ts';

/** `work`: a worker of an export that was enqueued. */
export const workCommand = jobCommand(
  {
    usage: ['work <job.yaml> [--shard i/N] [--no-wait] [flags]'],
    about:
      'Exports slices that asset-export enqueue wrote into a bucket, alongside any number of other workers. Ends with 0 when every slice is done. The worker that finishes the last slice completes the export. While others hold the rest, a worker waits, and takes over from workers that died. With fleet.database and without --shard, a queue hands out the slices.',
    examples: [
      { line: 'work job.yaml', about: 'on each machine; workers may start and stop at any time' },
      { line: 'work job.yaml --shard 3/8', about: 'the fourth of eight: begins where the others do not' },
      { line: 'work job.yaml --shard /8', about: 'in a Kubernetes Indexed Job or an AWS Batch array' },
    ],
    run: (args) => work(args),
  },
  [
    shardFlag,
    {
      name: 'wait',
      about: 'wait if other workers hold all remaining slices; with --no-wait, exit 11 instead',
      standard: 'on',
    },
    ...runFlags,
    ...stateGroup.flags,
  ],
);

async function work(args: CommandLine): Promise<number> {
  const { job, idsFolder } = jobOf(args);
  const shard = shardOf(args.text('shard'), args.terminal.env);
  requireSharedBudget(job, shard);
  const settings = runSettings(args);
  const environment = { ...args.terminal.env };
  takeKeyAway(args.terminal.env);
  const waits = args.value('wait') !== false;
  const open = await openServiceFor(job, args, { environment, abort: settings.signals.abort });
  return runJob(
    { job, idsFolder, fresh: false },
    {
      open,
      observe: observeIn(args.terminal.env),
      ...settings,
      warnings: jobWarnings(job),
      make: async (context) => {
        const { workOnJob } = await import('../../../wings/fleet/index.ts');
        return workOnJob({ job, shard, waits }, context);
      },
    },
  );
}
