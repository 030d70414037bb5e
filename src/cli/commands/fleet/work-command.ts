import { jobWarnings } from '../../../job/job-warnings.ts';
import { observeRuns } from '../../../observe/observe-runs.ts';
import type { Command, CommandArguments } from '../../command.ts';
import { jobFlagGroups, jobNotes, jobOf, jobWords, stateGroup } from '../../job-flags.ts';
import { openServiceFor } from '../../open-service.ts';
import { takeKeyAway } from '../../read-api-key.ts';
import { runFlags, runSettings } from '../../run-flags.ts';
import { runJob } from '../run-job.ts';
import { requireSharedBudget, shardFlag, shardOf } from './shard.ts';

/** `work`: a worker of an export that was enqueued. */
export const workCommand: Command = {
  usage: ['work <job.yaml> [--shard i/N] [--no-wait] [flags]'],
  about:
    'Makes slices of an export that asset-export enqueue put into a bucket, next to any number of other workers, and ends with 0 when every slice is done. Who finishes the last slice completes the export. While others hold the rest, a worker waits, and takes over from workers that died.',
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
          about: 'wait while others hold all slices that are left; --no-wait ends with exit 11 then',
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

async function work(args: CommandArguments): Promise<number> {
  const { job, idsFolder } = jobOf(args);
  const shard = shardOf(args.text('shard'), process.env);
  requireSharedBudget(job, shard);
  const settings = runSettings(args);
  const environment = { ...process.env };
  takeKeyAway(process.env);
  const [{ workOnExport }, { fromShard }] = await Promise.all([
    import('../../../operations/fleet/work-export.ts'),
    import('../../../operations/fleet/shard-slices.ts'),
  ]);
  const waits = args.value('wait') !== false;
  const open = await openServiceFor(job, args, environment);
  return runJob(
    { job, idsFolder, fresh: false },
    {
      ...{ open, observe: observeRuns, ...settings, warnings: jobWarnings(job) },
      make: (context) => workOnExport({ job, source: (slices) => fromShard({ slices, shard, waits }) }, context),
    },
  );
}
