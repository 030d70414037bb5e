import type { CreditLedger } from '../client/credit-ledger.ts';
import { proxyFromEnvironment } from '../client/proxy-settings.ts';
import type { Job } from '../job/job-schema.ts';
import { systemClock, utcDay } from '../lib/clock.ts';
import type { ExportContext } from '../pipeline/export-context.ts';
import { diskFileStore } from '../store/file-store.ts';
import type { OpenService } from './open-service.ts';
import { programThreads } from './program-threads.ts';
import { programVersion } from './program-version.ts';
import type { ProgressOptions } from './progress.ts';
import type { RunSettings } from './run-flags.ts';
import { showProgress } from './show-progress.ts';
import { stopSignals } from './stop-signals.ts';

export interface RunContextOptions extends Pick<RunSettings, 'graceMs' | 'logLevel'> {
  readonly open: OpenService;
  /** What a second signal does, where it is not to end the program at once. */
  readonly secondSignal?: 'abort' | undefined;
}

/** What the program gives a flow that makes parts. */
export interface RunContext {
  readonly context: ExportContext;
  /** Shows a message between events. */
  tell(message: string): void;
  /** Takes the progress away, and gives signals their usual meaning back. */
  end(): void;
}

/** Progress on stderr, signals, and all else that a job is run with. Who opened the service closes it. */
export async function openRunContext(job: Job, options: RunContextOptions): Promise<RunContext> {
  const { open, graceMs, logLevel, secondSignal } = options;
  const progress = await showProgress(await progressOptions(job, open.ledger, logLevel));
  const tell = (message: string): void => {
    progress.tell(message);
  };
  const signals = stopSignals(graceMs, tell, secondSignal);
  return {
    context: {
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
    tell,
    end: () => {
      progress.end();
      signals.dispose();
    },
  };
}

/** What the progress of a job shows of its budget: the tightest of the limits, less what is spent. */
export async function progressOptions(
  { budget, service }: Pick<Job, 'budget' | 'service'>,
  ledger: Pick<CreditLedger, 'booked'>,
  logLevel: string,
): Promise<ProgressOptions> {
  const { creditsPerCall, creditsPerRun = Number.POSITIVE_INFINITY, creditsPerDay = Number.POSITIVE_INFINITY } = budget;
  const bookedBefore = await ledger.booked(utcDay(systemClock.now()));
  const limit = Math.min(creditsPerRun, creditsPerDay - bookedBefore);
  return {
    clock: systemClock,
    creditsPerCall,
    idsPerCall: service.idsPerCall,
    creditsLeft: (calls) =>
      limit === Number.POSITIVE_INFINITY ? undefined : Math.max(0, limit - calls * creditsPerCall),
    logLevel,
  };
}
