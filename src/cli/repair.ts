import { proxyFromEnvironment } from '../client/proxy-settings.ts';
import type { LoadedJob } from '../job/load-job.ts';
import { systemClock } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { shownPath } from '../lib/shown-path.ts';
import type { RepairOutcome } from '../pipeline/repair-export.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import { diskFileStore } from '../store/file-store.ts';
import type { CommandArguments } from './command.ts';
import { count, plural } from './format-text.ts';
import { jobOf } from './job-flags.ts';
import { ledgerInExport, openService } from './open-service.ts';
import { programThreads } from './program-threads.ts';
import { programVersion } from './program-version.ts';
import { type RunSettings, runSettings } from './run-flags.ts';
import { errorJson, errorText } from './show-error.ts';
import { showProgress } from './show-progress.ts';
import { stopSignals } from './stop-signals.ts';
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
  { graceMs, logLevel }: RunSettings,
): Promise<RepairOutcome> {
  const { repairExport } = await import('../pipeline/repair-export.ts');
  const { manifestOf } = await import('../pipeline/verify-export.ts');
  // Before anything is put into a folder that is none of an export.
  await manifestOf(diskFileStore, job.output.dir);
  const open = await openService({
    job,
    stateDir: args.text('state-dir'),
    keyFileFromFlag: args.text('api-key-file') !== undefined,
    embeddedLedger: () => ledgerInExport(job.output.dir),
    spillDir: pathIn(job.output.dir, exportPaths.embedded),
  });
  const progress = await showProgress({
    clock: systemClock,
    creditsPerCall: job.budget.creditsPerCall,
    idsPerCall: job.service.idsPerCall,
    creditsLeft: () => undefined,
    logLevel,
  });
  const signals = stopSignals(graceMs, (message) => {
    progress.tell(message);
  });
  try {
    return await repairExport(
      { job, idsFolder },
      {
        clock: systemClock,
        random: Math.random,
        files: diskFileStore,
        service: open.service,
        ledger: open.ledger,
        proxy: proxyFromEnvironment(process.env),
        stdin: process.stdin,
        stop: signals.stop,
        abort: signals.abort,
        threads: programThreads(job),
        listener: progress.listener,
        version: programVersion(),
      },
    );
  } finally {
    progress.end();
    signals.dispose();
    await open.close();
  }
}
