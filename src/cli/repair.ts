import type { LoadedJob } from '../job/load-job.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { shownPath } from '../lib/shown-path.ts';
import type { RepairOutcome } from '../pipeline/repair-export.ts';
import { diskFileStore } from '../store/file-store.ts';
import type { CommandArguments } from './command.ts';
import { count, plural } from './format-text.ts';
import { jobOf } from './job-flags.ts';
import { openServiceFor } from './open-service.ts';
import { openRunContext } from './run-context.ts';
import { type RunSettings, runSettings } from './run-flags.ts';
import { errorJson, errorText } from './show-error.ts';
import { verifyText } from './verify-text.ts';

/** `verify --repair`: makes the damaged parts of an export again. Resolves to the exit status. */
export async function repair(args: CommandArguments, folder: string): Promise<number> {
  const settings = runSettings(args);
  const file = args.text('job');
  const loaded = jobOf({ ...args, words: file === undefined ? [] : [file] }, { out: folder });
  const outcome = await repaired(loaded, args, settings);
  const { after, error, calls, credits, parts } = outcome;
  const exitCode = error?.exitCode ?? (after.damage.length === 0 ? exitCodes.complete.code : exitCodes.damaged.code);
  const shown = shownPath(folder, process.cwd());
  process.stderr.write(
    `${plural(parts.length, 'part')} made again in ${plural(calls, 'call')} for ${count(credits)} credits\n`,
  );
  if (error !== undefined) process.stderr.write(`${errorText(error)}\n`);
  const said = error === undefined ? null : errorJson(error);
  process.stdout.write(
    settings.json
      ? `${JSON.stringify({ folder, ok: exitCode === 0, exitCode, ...after, repaired: parts, calls, credits, error: said })}\n`
      : verifyText(after, shown),
  );
  return exitCode;
}

async function repaired(
  { job, idsFolder }: LoadedJob,
  args: CommandArguments,
  settings: RunSettings,
): Promise<RepairOutcome> {
  const { repairExport } = await import('../pipeline/repair-export.ts');
  const { manifestOf } = await import('../pipeline/verify-export.ts');
  // Before anything is put into a folder that is none of an export.
  await manifestOf(diskFileStore, job.output.dir);
  const open = await openServiceFor(job, args);
  try {
    const run = await openRunContext(job, { open, ...settings });
    try {
      return await repairExport({ job, idsFolder }, run.context);
    } finally {
      run.end();
    }
  } finally {
    await open.close();
  }
}
