import { type Job, jobOn, jobWarnings } from '../../core/job/job-schema.ts';
import { isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { systemClock, utcDay } from '../../lib/clock.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import { isChange } from '../../core/run/job-shape.ts';
import { folderPlace } from '../../places/files/folder-place.ts';
import { requireExportFolder } from '../../places/export/export-folder.ts';
import { observeIn } from '../../world/wings.ts';
import { leavingNoFolder } from '../../places/files/lock.ts';
import { localFolder } from '../../core/run/homes/export-place.ts';
import { localDisk } from '../../places/files/disk.ts';
import type { CommandLine } from '../command.ts';
import { exportBefore, leftAlone, openServiceFor } from '../run-context.ts';
import { jobCommand, jobOf, stateGroup, runFlags, runSettings } from '../job-flags.ts';
import { takeKeyAway } from '../../world/read-api-key.ts';
import { type AccountJson, type JobRun, runJob } from './run-job.ts';

/** `run`: starts an export or continues it. */
export const runCommand = jobCommand(
  {
    usage: ['run <job.yaml> [flags]', 'run --ids FILE --url BASE --out DIR [flags]'],
    about:
      'Starts an export, or resumes it with the same command. To resume a killed run, run it again: no saved answer is paid for twice. With {date} in the output folder, each UTC day has its own export, and a run finishes the newest unfinished one first.',
    examples: [
      { line: 'run job.yaml', about: 'the job that asset-export init wrote' },
      {
        line: 'run --ids ids.txt --url https://service.example --out out/nightly',
        about: 'flags instead of a job file; the key is in ASSET_EXPORT_API_KEY',
      },
      { line: 'run job.yaml --credits-per-day 15000000 --when-spent wait', about: 'a backfill over several days' },
      { line: 'run job.yaml --fresh', about: 'start over after the ids or the job changed' },
    ],
    run: (args) => run(args),
  },
  [
    { name: 'fresh', about: 'delete the export in the output folder, even a complete one, and start over' },
    ...runFlags,
    ...stateGroup.flags,
  ],
);

async function run(args: CommandLine): Promise<number> {
  const { job, idsFolder, outputDir } = jobOf(args);
  const fresh = args.isOn('fresh');
  const settings = runSettings(args);
  const brake = (await import('../../core/run/follow-run.ts')).newBrake(job.budget);
  // The key is taken out of the environment once, and may be needed twice.
  const environment = { ...args.terminal.env };
  takeKeyAway(args.terminal.env);
  const runOne = async (dated: Job, more: Partial<JobRun>): Promise<number> => {
    // An embedded service keeps its balance in the folder: not in one that is not an export.
    if (!isBucketAddress(dated.output.dir))
      await requireExportFolder(folderPlace(localDisk, dated.output.dir), dated.output.dir);
    return leavingNoFolder(localFolder(dated), async () => {
      const open = await openServiceFor(dated, args, {
        environment: { ...environment },
        abort: settings.signals.abort,
      });
      return runJob(
        { job: dated, idsFolder, outputDir, fresh, isRest: more.before !== undefined },
        { open, brake, observe: observeIn(args.terminal.env), ...settings, ...more },
      );
    });
  };
  const warnings = jobWarnings(job);
  const first = fresh ? undefined : await exportBefore({ files: localDisk }, job, utcDay(systemClock.now()));
  if (first?.warning !== undefined) warnings.push(first.warning);
  let before: AccountJson | undefined;
  if (first?.job !== undefined) {
    try {
      const exit = await runOne(first.job, { onAccount: (account) => (before = account) });
      if (exit !== exitCodes.complete.code && exit !== exitCodes.notTolerated.code) {
        if (settings.json) args.terminal.stdout.write(`${JSON.stringify(before)}\n`);
        return exit;
      }
    } catch (error) {
      if (!isChange(error)) throw error;
      warnings.push(leftAlone(error));
    }
  }
  const exit = await runOne(lessSpent(jobOn(job, utcDay(systemClock.now())), before), { warnings, before });
  return exit === exitCodes.complete.code ? (before?.exitCode ?? exit) : exit;
}

/** The credits of a run are those of all exports that it works on. */
function lessSpent(job: Job, before: AccountJson | undefined): Job {
  const { creditsPerRun } = job.budget;
  if (creditsPerRun === undefined || before === undefined) return job;
  return { ...job, budget: { ...job.budget, creditsPerRun: Math.max(0, creditsPerRun - before.creditsOfRun) } };
}
