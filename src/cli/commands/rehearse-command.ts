import { dialectOf, otherDialect } from '../../core/job/job-dialect.ts';
import { makeTemporary } from '../../lib/disk/on-disk.ts';
import { rmSync } from 'node:fs';
import { basename } from 'node:path';
import { createMemoryLedger } from '../../core/client/ledger/credit-ledger.ts';
import { requireCallInBudget } from '../../core/client/policies/day-gate.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { systemClock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { CommandLine } from '../command.ts';
import { jobCommand, jobFlagGroups, jobOf, jobWords, runFlags, runSettings } from '../job-flags.ts';
import { type OpenService, ownKey } from '../../world/open-service.ts';
import { sameLine } from '../flag-values.ts';
import { runJob } from './run-job.ts';
import { rehearsal } from '../output/summary-text.ts';

/** Nothing beside the folder of a rehearsal is touched: neither the nights of the job, nor their lake. */
const nothingBeside = { report: false, latest: false, keep: undefined, lake: [] };

/** `rehearse`: the job as it is, against answers that are made up. */
export const rehearseCommand = jobCommand(
  {
    usage: ['rehearse <job.yaml> [--faults FILE] [flags]', 'rehearse --ids FILE --out DIR [flags]'],
    about:
      'Dry run of a job: your ids and settings, generated records, no credits, no network. The files go to a temporary folder that is removed at the end. The daily budget is ignored, unless --credits-per-day is given with --when-spent stop.',
    examples: [
      { line: 'rehearse job.yaml', about: 'what the real run would print' },
      {
        line: 'rehearse job.yaml --faults faults.yaml',
        about: 'the same with a faulty service (asset-export help service)',
      },
    ],
    words: { ...jobWords, about: 'job file (YAML), unless --ids and --out are given' },
    run: (args) => rehearse(args),
  },
  [
    { name: 'faults', value: 'FILE', about: 'YAML file with faults that the service simulates' },
    {
      name: 'missing-percent',
      value: 'N',
      about: 'percentage of ids that the service does not find',
      standard: '1',
    },
    ...runFlags,
  ],
);

async function rehearse(args: CommandLine): Promise<number> {
  const settings = runSettings(args);
  const missingPercent = percentOf(args.text('missing-percent') ?? '1');
  // The address is not used, so a job without one is accepted.
  const { job, idsFolder, outputDir } = jobOf(args, args.words.length === 0 ? { url: 'embedded:-' } : {});
  const budget = rehearsedBudget(job.budget, args.text('credits-per-day') !== undefined);
  const dir = await makeTemporary('rehearsal');
  // On exit, because a second signal skips every `finally`.
  args.terminal.onExit(() => {
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  });
  const runWords = [...runFlags, ...jobFlagGroups().flatMap((group) => group.flags)];
  const open = await openInventedService(job, args.text('faults'), missingPercent);
  const words = {
    shown: rehearsal,
    next: `Next, to spend the credits and keep the files: ${sameLine('run', args, runWords)}`,
    notes: [
      'Dry run: records are generated, no credits are spent, and the files are removed at the end.',
      ...(job.budget.creditsPerDay !== undefined && budget.creditsPerDay === undefined
        ? ['The daily budget is ignored. To stop when it is spent, add --credits-per-day N --when-spent stop.']
        : []),
    ],
  };
  const rehearsed = { ...job, budget, output: { ...job.output, dir, ...nothingBeside } };
  return runJob(
    { job: rehearsed, idsFolder, outputDir, fresh: false },
    {
      open,
      words,
      secondSignal: 'abort',
      exportName: basename(job.output.dir),
      ...settings,
    },
  );
}

/** Generated credits have no day: the daily budget applies only if the command line sets it, and nothing waits for 00:00 UTC. */
function rehearsedBudget(budget: Job['budget'], isAsked: boolean): Job['budget'] {
  // Less than a call is refused, as the run refuses it.
  requireCallInBudget(budget);
  if (isAsked && budget.whenSpent === 'stop') return budget;
  return { ...budget, creditsPerDay: undefined, whenSpent: 'stop' };
}

async function openInventedService(job: Job, faults: string | undefined, missingPercent: number): Promise<OpenService> {
  const { loadFaults, serveGenerated } = await import('../../practice-service.ts');
  const dialect = dialectOf(job.service.dialect);
  const { apiKey, lets } = ownKey(dialect);
  const running = await serveGenerated(missingPercent, {
    host: '127.0.0.1',
    port: 0,
    ...lets,
    dialect,
    creditsPerCall: job.budget.creditsPerCall,
    clock: systemClock,
    ...(faults === undefined ? {} : { faults: await loadFaults(faults) }),
  });
  return {
    service: { url: running.url, apiKey, dialect: otherDialect(job) },
    ledger: createMemoryLedger(),
    close: () => running.close(),
  };
}

function percentOf(text: string): number {
  const percent = Number(text);
  if (text.trim() !== '' && percent >= 0 && percent <= 100) return percent;
  throw new ExportError('usage', `--missing-percent: ${text} is not a percentage from 0 to 100`);
}
