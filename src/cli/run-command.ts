import { relative } from 'node:path';
import type { CommandModule } from 'yargs';
import type { Job } from '../job/job-schema.ts';
import { systemClock, utcDay } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError } from '../lib/export-error.ts';
import { exportAssets } from '../pipeline/export-assets.ts';
import type { ExportOutcome } from '../pipeline/export-outcome.ts';
import { intolerable } from '../pipeline/tolerance.ts';
import { diskFileStore } from '../store/file-store.ts';
import { type JobArguments, jobEpilogue, jobOf, withJobFlags } from './job-flags.ts';
import { proxyFromEnvironment } from '../client/proxy-settings.ts';
import { openService } from './open-service.ts';
import { programVersion } from './program-version.ts';
import { errorText } from './show-error.ts';
import { showProgress } from './show-progress.ts';
import { stopSignals } from './stop-signals.ts';
import { nextText, summaryText } from './summary-text.ts';

interface RunArguments extends JobArguments {
  readonly fresh: boolean;
  readonly json: boolean;
  readonly 'state-dir'?: string;
  readonly 'grace-ms': string;
  readonly 'log-level': string;
}

/** `run`: starts an export or continues it. */
export const runCommand: CommandModule<object, RunArguments> = {
  command: 'run [job]',
  describe: 'start an export, or continue it: the same command either way',
  builder: (args) =>
    withJobFlags(args)
      .example('$0 run jobs/demo.yaml', 'the sample ids against local records, no key needed')
      .example(
        '$0 run --ids ids.txt --url https://service.example --out out/nightly --format parquet,csv',
        'flags instead of a job file',
      )
      .example('$0 run job.yaml --credits-per-day 15000000 --when-spent wait', 'a backfill over several days')
      .option('fresh', {
        type: 'boolean',
        default: false,
        describe: 'throw away what an earlier run left, and begin anew',
      })
      .option('json', { type: 'boolean', default: false, describe: 'print the account as one JSON object on stdout' })
      .option('state-dir', {
        type: 'string',
        requiresArg: true,
        describe: 'folder of the credit ledgers [default: $XDG_STATE_HOME/asset-export]',
      })
      .option('grace-ms', {
        type: 'string',
        requiresArg: true,
        default: '20000',
        describe: 'time that answers in flight get after SIGINT or SIGTERM',
      })
      .option('log-level', {
        choices: ['trace', 'debug', 'info', 'warn', 'error'],
        default: 'info',
        describe: 'detail of the log where there is no terminal',
      })
      .epilogue(jobEpilogue) as never,
  handler: async (args) => {
    process.exitCode = await run(args);
  },
};

async function run(args: RunArguments): Promise<number> {
  const { job, idsFolder } = jobOf(args);
  const shown = relative(process.cwd(), job.output.dir) || '.';
  const open = await openService({
    job,
    stateDir: args['state-dir'],
    keyFileFromFlag: args['api-key-file'] !== undefined,
  });
  const bookedBefore = await open.ledger.booked(utcDay(systemClock.now()));
  const progress = showProgress({
    clock: systemClock,
    creditsPerCall: job.budget.creditsPerCall,
    idsPerCall: job.service.idsPerCall,
    creditsLeft: (calls) => creditsLeft(job, calls * job.budget.creditsPerCall, bookedBefore),
    logLevel: args['log-level'],
  });
  const signals = stopSignals(graceMs(args['grace-ms']), (message) => {
    progress.tell(message);
  });
  try {
    if (args.fresh) progress.tell(`--fresh: what an earlier run left in ${shown} is thrown away`);
    const outcome = await exportAssets(
      { job, idsFolder, fresh: args.fresh },
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
        listener: progress.listener,
        version: programVersion,
      },
    );
    progress.end();
    return tellOutcome(outcome, { job, shown, json: args.json });
  } finally {
    progress.end();
    signals.dispose();
    await open.close();
  }
}

function tellOutcome(outcome: ExportOutcome, { job, shown, json }: { job: Job; shown: string; json: boolean }): number {
  const error =
    outcome.error ?? (outcome.state === 'complete' ? intolerable(outcome.account, job.tolerance) : undefined);
  const exitCode = error?.exitCode ?? exitCodes.complete.code;
  process.stderr.write(`\n${summaryText(outcome, shown)}\n\n`);
  if (error !== undefined) process.stderr.write(`${errorText(error)}\n`);
  else process.stderr.write(`${nextText(outcome, shown)}\n`);
  if (json) process.stdout.write(`${JSON.stringify(accountJson(outcome, exitCode, error))}\n`);
  return exitCode;
}

function accountJson(outcome: ExportOutcome, exitCode: number, error: ExportError | undefined): object {
  const { account, state, callsOfRun, elapsedMs } = outcome;
  const { counts, files, ...rest } = account;
  const said =
    error === undefined ? null : { code: error.exit, message: error.message, todo: error.todo ?? null, ...error.facts };
  return { state, exitCode, ...rest, ...counts, counts, callsOfRun, elapsedMs, files: files.length, error: said };
}

/** The tightest of the limits, less what is spent. */
function creditsLeft({ budget }: Job, used: number, bookedBefore: number): number | undefined {
  const ofRun = budget.creditsPerRun === undefined ? [] : [budget.creditsPerRun - used];
  const ofDay = budget.creditsPerDay === undefined ? [] : [budget.creditsPerDay - bookedBefore - used];
  const limits = [...ofRun, ...ofDay];
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
}

function graceMs(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw new ExportError('usage', `--grace-ms: ${text} is not a number of milliseconds`);
}
