import type { Command, CommandArguments } from './command.ts';
import { jobFlagGroups, jobNotes, jobOf, jobWords, stateGroup } from './job-flags.ts';
import { openServiceFor } from './open-service.ts';
import { runFlags, runSettings } from './run-flags.ts';
import { runJob } from './run-job.ts';

/** `run`: starts an export or continues it. */
export const runCommand: Command = {
  usage: ['run <job.yaml> [flags]', 'run --ids FILE --url BASE --out DIR [flags]'],
  about:
    'Starts an export, or continues it: the same command either way. A run that is killed loses nothing: run it again.',
  examples: [
    { line: 'run jobs/demo.yaml', about: 'the sample ids against local records, no key needed' },
    {
      line: 'run --ids ids.txt --url https://service.example --out out/nightly',
      about: 'flags instead of a job file; the key is in ASSET_EXPORT_API_KEY',
    },
    { line: 'run job.yaml --credits-per-day 15000000 --when-spent wait', about: 'a backfill over several days' },
    { line: 'run job.yaml --fresh', about: 'begin anew after ids or job changed' },
  ],
  words: jobWords,
  groups: [
    {
      title: 'This command',
      flags: [
        { name: 'fresh', about: 'throw away what an earlier run left, and begin anew' },
        ...runFlags,
        ...stateGroup.flags,
      ],
    },
    ...jobFlagGroups(),
  ],
  notes: jobNotes,
  run: (args) => run(args),
};

async function run(args: CommandArguments): Promise<number> {
  const { job, idsFolder } = jobOf(args);
  const fresh = args.isOn('fresh');
  const settings = runSettings(args);
  const open = await openServiceFor(job, args);
  return runJob({ job, idsFolder, fresh }, { open, ...settings });
}
