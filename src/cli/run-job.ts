import { proxyFromEnvironment } from '../client/proxy-settings.ts';
import type { Job } from '../job/job-schema.ts';
import { systemClock, utcDay } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';
import { shownPath } from '../lib/shown-path.ts';
import type { ExportRequest } from '../pipeline/export-assets.ts';
import type { ExportOutcome } from '../pipeline/export-outcome.ts';
import { intolerable } from '../pipeline/tolerance.ts';
import { diskFileStore } from '../store/file-store.ts';
import type { OpenService } from './open-service.ts';
import { programThreads } from './program-threads.ts';
import { programVersion } from './program-version.ts';
import type { RunSettings } from './run-flags.ts';
import { errorJson, errorText } from './show-error.ts';
import { showProgress } from './show-progress.ts';
import { stopSignals } from './stop-signals.ts';
import { tellHolding } from './tell-holding.ts';
import { nextText, summaryText } from './summary-text.ts';

export interface JobRun extends RunSettings {
  readonly open: OpenService;
  /** What the export is called in messages, and the line behind the summary, where they are not the usual ones. */
  readonly words?: { readonly shown: string; readonly next: string };
  /** What a second signal does, where it is not to end the program at once. */
  readonly secondSignal?: 'abort';
}

/** Runs an export with progress and signals, tells how it ended, and closes the service. Resolves to the exit status. */
export async function runJob(request: ExportRequest, settings: JobRun): Promise<number> {
  try {
    return await runOpen(request, settings);
  } finally {
    await settings.open.close();
  }
}

async function runOpen(request: ExportRequest, settings: JobRun): Promise<number> {
  const { job, fresh } = request;
  const { open, json, logLevel } = settings;
  const shown = settings.words?.shown ?? shownPath(job.output.dir, process.cwd());
  const bookedBefore = await open.ledger.booked(utcDay(systemClock.now()));
  const progress = await showProgress({
    clock: systemClock,
    creditsPerCall: job.budget.creditsPerCall,
    idsPerCall: job.service.idsPerCall,
    creditsLeft: (calls) => creditsLeft(job, calls * job.budget.creditsPerCall, bookedBefore),
    logLevel,
  });
  const holding = tellHolding(diskFileStore, job.output.dir);
  const tell = (message: string): void => {
    progress.tell(message);
  };
  const signals = stopSignals(settings.graceMs, tell, settings.secondSignal);
  try {
    if (fresh) progress.tell(`--fresh: what an earlier run left in ${shown} is thrown away once the ids are read`);
    const { exportAssets } = await import('../pipeline/export-assets.ts');
    const outcome = await exportAssets(request, {
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
      listener: (event) => {
        progress.listener(event);
        holding.listener(event);
      },
      version: programVersion(),
    });
    progress.end();
    return tellOutcome(outcome, { job, json, shown, next: settings.words?.next ?? nextText(shown) });
  } finally {
    progress.end();
    holding.end();
    signals.dispose();
  }
}

interface Telling {
  readonly job: Job;
  readonly json: boolean;
  readonly shown: string;
  readonly next: string;
}

function tellOutcome(outcome: ExportOutcome, { job, json, shown, next }: Telling): number {
  const error =
    outcome.error ??
    (outcome.state === 'complete' ? intolerable(outcome.account, job.tolerance, job.output.onDrift) : undefined);
  const exitCode = error?.exitCode ?? exitCodes.complete.code;
  process.stderr.write(`\n${summaryText(outcome, shown)}\n\n`);
  if (error !== undefined) process.stderr.write(`${errorText(error)}\n`);
  else process.stderr.write(`${next}\n`);
  if (json) process.stdout.write(`${JSON.stringify(accountJson(outcome, exitCode, error))}\n`);
  return exitCode;
}

function accountJson(outcome: ExportOutcome, exitCode: number, error: ExportError | undefined): object {
  const { account, state, callsOfRun, creditsOfRun, elapsedMs } = outcome;
  const { counts, files, ...rest } = account;
  const said = error === undefined ? null : errorJson(error);
  return {
    state,
    exitCode,
    ...rest,
    ...counts,
    counts,
    callsOfRun,
    creditsOfRun,
    elapsedMs,
    files: files.length,
    error: said,
  };
}

/** The tightest of the limits, less what is spent. */
function creditsLeft({ budget }: Job, used: number, bookedBefore: number): number | undefined {
  const ofRun = budget.creditsPerRun === undefined ? [] : [budget.creditsPerRun - used];
  const ofDay = budget.creditsPerDay === undefined ? [] : [budget.creditsPerDay - bookedBefore - used];
  const limits = [...ofRun, ...ofDay];
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
}
