import { basename } from 'node:path';
import type { CreditLedger } from '../core/client/ledger/credit-ledger.ts';
import type { Brake } from '../core/client/policies/brake.ts';
import type { Job } from '../core/job/job-schema.ts';
import { systemClock, utcDay } from '../lib/clock.ts';
import { safeText } from '../lib/addresses/shown-text.ts';
import { uuidV7 } from '../lib/uuid-v7.ts';
import type { OpenObserver } from '../core/work/run-observer.ts';
import type { ExportContext } from '../core/run/export-context.ts';
import { localDisk } from '../places/files/disk.ts';
import type { OpenService } from '../world/open-service.ts';
import { runWings, programThreads } from '../world/wings.ts';
import { programVersion } from '../lib/packages/package-root.ts';
import type { Progress, ProgressOptions } from './progress/progress.ts';
import { forPeople } from './output/show-error.ts';
import type { RunSettings } from './job-flags.ts';
import { showProgress } from './progress/show-progress.ts';

export interface RunContextOptions extends Pick<RunSettings, 'terminal' | 'signals' | 'logLevel'> {
  readonly open: OpenService;
  /** What the log calls the export; the name of its folder unless given. */
  readonly exportName?: string;
  /** Counts the calls of this run, where the command makes several exports. */
  readonly brake?: Brake;
  /** What follows the run, besides its progress. */
  readonly observe?: OpenObserver;
  /** What a second signal does, where it is not to end the program at once. */
  readonly secondSignal?: 'abort' | undefined;
}

/** What the program gives a flow that makes parts. */
export interface RunContext {
  readonly context: ExportContext;
  /** See `Progress`. */
  readonly logEnd?: NonNullable<Progress['logEnd']>;
  /** Shows a message between events. */
  tell(message: string): void;
  /** Takes the progress away. */
  end(): void;
}

/**
 * Progress on stderr, signals, and everything else that a job runs with. The caller closes the service it opened, and gives signals
 * their usual meaning back after that.
 */
export async function openRunContext(job: Job, options: RunContextOptions): Promise<RunContext> {
  const { open, terminal, signals, logLevel, secondSignal } = options;
  const version = programVersion();
  const run = uuidV7(systemClock.now());
  const logged = { run, export: options.exportName ?? basename(job.output.dir), version };
  const progress = await showProgress(await progressOptions(job, open.ledger, logLevel), logged, terminal);
  const tell = (message: string): void => {
    progress.tell(progress.logEnd === undefined ? forPeople(message, terminal.cwd()) : safeText(message));
  };
  const warn = (message: string): void => {
    // The log has a line of its own for a warning.
    if (progress.logEnd === undefined) tell(`warning: ${message}`);
    else progress.listener({ kind: 'warning', message });
  };
  open.tellTo?.(warn);
  open.warnings?.forEach(warn);
  signals.listen(tell, secondSignal);
  return {
    context: {
      clock: open.clock ?? systemClock,
      random: Math.random,
      files: localDisk,
      service: open.service,
      ledger: open.ledger,
      pace: open.pace,
      brake: options.brake,
      proxy: open.proxy,
      stdin: terminal.stdin,
      stop: signals.stop,
      abort: signals.abort,
      threads: programThreads(job),
      listener: progress.listener,
      ...(options.observe === undefined ? {} : { observe: options.observe }),
      version,
      run,
      ...runWings,
    },
    tell,
    ...(progress.logEnd === undefined ? {} : { logEnd: progress.logEnd }),
    end: () => {
      progress.end();
    },
  };
}

/** What the progress of a job needs to know of it, and of the credits that are spent. */
export async function progressOptions(
  { budget, service, output }: Pick<Job, 'budget' | 'service' | 'output'>,
  ledger: Pick<CreditLedger, 'booked'>,
  logLevel: string,
): Promise<ProgressOptions> {
  return {
    clock: systemClock,
    idsPerCall: service.idsPerCall,
    rowsPerPart: output.rowsPerPart,
    budget: { ...budget, bookedBefore: await ledger.booked(utcDay(systemClock.now())) },
    logLevel,
  };
}
