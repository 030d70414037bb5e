import type { Job } from '../job/job-schema.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';
import { shownPath } from '../lib/shown-path.ts';
import type { ExportRequest } from '../pipeline/export-assets.ts';
import type { ExportOutcome } from '../pipeline/export-outcome.ts';
import type { RunListener } from '../pipeline/run-events.ts';
import { intolerable } from '../pipeline/tolerance.ts';
import { diskFileStore } from '../store/file-store.ts';
import { openRunContext, type RunContextOptions } from './run-context.ts';
import type { RunSettings } from './run-flags.ts';
import { errorJson, errorText } from './show-error.ts';
import { tellHolding } from './tell-holding.ts';
import { nextText, summaryText } from './summary-text.ts';

export interface JobRun extends RunSettings, RunContextOptions {
  /** What the export is called in messages, and the line behind the summary, where they are not the usual ones. */
  readonly words?: { readonly shown: string; readonly next: string };
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
  const shown = settings.words?.shown ?? shownPath(job.output.dir, process.cwd());
  const run = await openRunContext(job, settings);
  const holding = tellHolding(diskFileStore, job.output.dir);
  const listener: RunListener = (event) => {
    run.context.listener(event);
    holding.listener(event);
  };
  let outcome: ExportOutcome;
  try {
    if (fresh) run.tell(`--fresh: what an earlier run left in ${shown} is thrown away once the ids are read`);
    const { exportAssets } = await import('../pipeline/export-assets.ts');
    outcome = await exportAssets(request, { ...run.context, listener });
  } finally {
    holding.end();
    run.end();
  }
  return tellOutcome(outcome, { job, json: settings.json, shown, next: settings.words?.next ?? nextText(shown) });
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
