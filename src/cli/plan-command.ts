import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExportPlan } from '../pipeline/plan-export.ts';
import { prepareInputs } from '../pipeline/prepare-inputs.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { diskFileStore } from '../store/file-store.ts';
import type { Command } from './command.ts';
import { byteSize, count, duration, plural } from './format-text.ts';
import { jobFlagGroups, jobNotes, jobOf, jobWords, stateGroup } from './job-flags.ts';
import { runFlags, runSettings } from './run-flags.ts';

/** `plan`: reads all ids and prints the bill. Sends nothing. */
export const planCommand: Command = {
  usage: ['plan <job.yaml> [flags]', 'plan --ids FILE --url BASE --out DIR [flags]'],
  about: 'Reads all ids and prints what an export would cost from where it stands. Sends nothing and needs no key.',
  examples: [
    { line: 'plan jobs/demo.yaml', about: 'calls, credits, days and disk of a job' },
    {
      line: 'plan job.yaml --credits-per-day 3000000 --credits-per-second 500',
      about: 'how long it takes on a free plan',
    },
  ],
  words: jobWords,
  groups: [
    {
      title: 'This command',
      flags: [
        { name: 'json', about: 'print one JSON object' },
        { name: 'fresh', about: 'plan as if nothing had been exported yet' },
      ],
    },
    {
      title: 'Of run, without effect on a plan',
      flags: [...runFlags.filter(({ name }) => name !== 'json'), ...stateGroup.flags],
    },
    ...jobFlagGroups(),
  ],
  notes: jobNotes,
  run: async (args) => {
    const { planExport } = await import('../pipeline/plan-export.ts');
    const { job, idsFolder } = jobOf(args);
    const { json } = runSettings(args);
    // Ids from stdin are kept beside the system's temporary files: a plan leaves no trace in the export.
    const folder = await mkdtemp(join(tmpdir(), 'asset-export-plan-'));
    try {
      const prepared = await prepareInputs({ job, idsFolder, files: diskFileStore, stdin: process.stdin, folder });
      const dir = args.isOn('fresh') ? join(folder, 'nothing-yet') : job.output.dir;
      const planned = { ...job, output: { ...job.output, dir } };
      const plan = await planExport({ job: planned, prepared, files: diskFileStore });
      process.stdout.write(json ? `${JSON.stringify(plan)}\n` : planText(plan));
      return exitCodes.complete.code;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

function planText(plan: ExportPlan): string {
  const rows: [string, string][] = [
    ['read', count(plan.read)],
    ['valid', count(plan.valid)],
    ['invalid', count(plan.invalid)],
    ['duplicates', count(plan.duplicates)],
    ['already done', count(plan.alreadyDone)],
    ['calls', count(plan.calls)],
    ['credits', count(plan.credits)],
    ...(plan.singleCallsAtMost === 0
      ? []
      : [
          ['single calls', `${count(plan.singleCallsAtMost)} more at most: one for each id that is missing`] as [
            string,
            string,
          ],
        ]),
    ['days', daysText(plan.days)],
    [
      'time',
      plan.seconds === null ? 'no limit of credits a second' : `${duration(plan.seconds * 1000)} at the rate limit`,
    ],
    ['disk', `about ${byteSize(plan.diskBytes)}`],
  ];
  return `${rows.map(([name, value]) => `  ${name.padEnd(13)} ${value}`).join('\n')}\n`;
}

function daysText(days: ExportPlan['days']): string {
  if (days === null) return 'no limit of credits a day';
  return days === 'never'
    ? 'never: the limit of a day is below the price of one call'
    : `${plural(days, 'day')} under the budget`;
}
