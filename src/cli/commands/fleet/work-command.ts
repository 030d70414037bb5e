import { jobWarnings, type Job } from '../../../core/job/job-schema.ts';
import { observeIn } from '../../../world/wings.ts';
import type { CommandLine } from '../../command.ts';
import { jobCommand, jobOf, stateGroup, runFlags, runSettings } from '../../job-flags.ts';
import { openServiceFor } from '../../run-context.ts';
import { takeKeyAway } from '../../../world/read-api-key.ts';
import { runJob } from '../run-job.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { shownWord } from '../../../lib/addresses/shown-text.ts';
import type { Shard } from '../../../wings/fleet/index.ts';

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
    {
      name: 'shard',
      value: '[i/N]',
      about:
        'begin at slice i·slices/N, from 0; /N takes i from JOB_COMPLETION_INDEX or AWS_BATCH_JOB_ARRAY_INDEX; without a value N is AWS_BATCH_JOB_ARRAY_SIZE',
      standard: '0/1',
    },
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

type Environment = Readonly<Record<string, string | undefined>>;

/** What stands behind `--shard`; undefined where the flag is not given. @throws {ExportError} `usage` */
function shardOf(text: string | undefined, environment: Environment): Shard | undefined {
  if (text === undefined) return undefined;
  const [, i = '', n = ''] = /^(\d*)\/(\d+)$/.exec(text) ?? [];
  if (text !== '' && n === '') throw wrong(`--shard must be i/N or /N, not "${shownWord(text)}"`);
  const count = numberOf(n === '' ? environment['AWS_BATCH_JOB_ARRAY_SIZE'] : n);
  if (count === undefined || count === 0) throw wrong('--shard needs the number of workers: --shard /N');
  const index = numberOf(
    i === '' ? (environment['JOB_COMPLETION_INDEX'] ?? environment['AWS_BATCH_JOB_ARRAY_INDEX']) : i,
  );
  if (index === undefined) {
    throw wrong('--shard has no number, and neither JOB_COMPLETION_INDEX nor AWS_BATCH_JOB_ARRAY_INDEX is set');
  }
  if (index < count) return { index, count };
  throw wrong(`--shard ${index}/${count}: shards are counted from 0, so the last one is ${count - 1}/${count}`);
}

/** @throws {ExportError} `usage` for a budget that each of several machines would have for itself */
function requireSharedBudget({ budget, fleet }: Job, { count }: Pick<Shard, 'count'> = { count: 1 }): void {
  const name = (['creditsPerDay', 'creditsPerSecond'] as const).find((each) => budget[each] !== undefined);
  if (count === 1 || name === undefined || fleet.database !== undefined) return;
  throw new ExportError(
    'usage',
    `budget.${name} would apply to each machine separately, and there are ${count} workers`,
    {
      todo: 'Set fleet.database (--fleet): all workers then share the budget.',
    },
  );
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

function wrong(message: string): ExportError {
  return new ExportError('usage', message, { todo: 'See asset-export work --help.' });
}
