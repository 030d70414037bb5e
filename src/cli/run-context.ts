import { serviceAddress } from '../core/client/wire/service-address.ts';
import { takesKey } from '../core/client/dialects.ts';
import { dialectOf } from '../core/job/job-dialect.ts';
import { embedded, isEmbedded, type Job, isDated } from '../core/job/job-schema.ts';
import { localFolder } from '../core/run/homes/export-place.ts';
import type { ExportError } from '../lib/export-error.ts';
import { exportPaths, pathIn } from '../places/export/export-folder.ts';
import { ledgerInExport, openService, type OpenService, type Surroundings } from '../world/open-service.ts';
import { checkedKey, findApiKey, keyFor } from '../world/read-api-key.ts';
import type { CommandLine } from './command.ts';
import { showWarning, forPeople } from './output/show-error.ts';
import type { Terminal } from './stop-signals.ts';
import { basename } from 'node:path';
import type { CreditLedger } from '../core/client/ledger/credit-ledger.ts';
import type { Brake } from '../core/client/policies/brake.ts';
import { systemClock, utcDay, uuidV7 } from '../lib/clock.ts';
import { safeText } from '../lib/addresses/shown-text.ts';
import type { OpenObserver } from '../core/work/run-observer.ts';
import type { ExportContext } from '../core/run/export-context.ts';
import { localDisk } from '../places/files/disk.ts';
import { runWings, programThreads } from '../world/wings.ts';
import { programVersion } from '../lib/packages/package-root.ts';
import type { Progress, ProgressOptions } from './progress/progress.ts';
import type { RunSettings } from './job-flags.ts';
import { showProgress } from './progress/show-progress.ts';
import type { HomeContext } from '../core/run/homes/open-home.ts';

/** The service of a job and its flags. What an embedded one keeps lies in the export. */
export function openServiceFor(
  job: Job,
  args: CommandLine,
  use: {
    /** Where the key may be, and is taken out of; of the terminal unless given. */
    readonly environment?: Record<string, string | undefined>;
    /** Aborted when the time of grace of the program is over: no database and no other process is waited for. */
    readonly abort?: AbortSignal | undefined;
  } = {},
): Promise<OpenService> {
  const dir = localFolder(job);
  return openService({
    job,
    ...lookedAround(args, use.environment),
    abort: use.abort,
    embeddedLedger: () => ledgerInExport(dir, use.abort),
    spillDir: pathIn(dir, exportPaths.embedded),
  });
}

/** Reads the beginning of the records that an embedded service would answer from. @throws {ExportError} as that service */
export async function requireRecords({ service }: Job): Promise<void> {
  if (!isEmbedded(service.url)) return;
  const practice = await import('../practice-service.ts');
  await practice.requireRecordsAt(service.url.slice(embedded.length));
}

/** Where the key of a job is; undefined where its dialect takes none. @throws {ExportError} `usage` when it cannot be right */
export function keyPlace(
  { service: { url, apiKeyFile, dialect: name } }: Job,
  args: CommandLine,
  environment: Record<string, string | undefined>,
): string | undefined {
  const fileFromFlag = args.text('api-key-file') !== undefined;
  const cwd = args.terminal.cwd();
  const sources = { file: apiKeyFile, fileFromFlag, environment: { ...environment }, cwd };
  const dialect = dialectOf(name);
  const found = takesKey(dialect) ? findApiKey(sources) : undefined;
  serviceAddress({ url, apiKey: found === undefined ? keyFor(dialect, sources) : checkedKey(found), dialect });
  return found?.place;
}

/** What a command has around it. @param env in place of the terminal's */
export function surroundings(terminal: Terminal, env: Surroundings['env'] = terminal.env): Surroundings {
  return {
    env,
    cwd: () => terminal.cwd(),
    tell: (message) => {
      showWarning(message, terminal);
    },
  };
}

/** The same, and where its flags say that key and ledger are. */
export function lookedAround(args: CommandLine, env?: Surroundings['env']) {
  const keyFileFromFlag = args.text('api-key-file') !== undefined;
  return { ...surroundings(args.terminal, env), stateDir: args.text('state-dir'), keyFileFromFlag };
}

/** What is booked for a job, as `bookedFor`, where a command looks. */
export async function bookedOf(
  job: Job,
  args: CommandLine,
  onMissing?: (why: ExportError) => void,
  env?: Surroundings['env'],
) {
  const { bookedFor } = await import('../world/open-service.ts');
  return bookedFor(job, lookedAround(args, env), onMissing);
}

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

/** The unfinished export that a command finishes first, or undefined. Ids from stdin are those of today: no other export can be made of them. */
export async function exportBefore(
  context: Pick<HomeContext, 'files'>,
  job: Job,
  today: string,
): Promise<
  | {
      /** The export to finish first. */
      readonly job?: Job;
      /** Why an unfinished export is left alone. */
      readonly warning?: string;
    }
  | undefined
> {
  if (!isDated(job)) return undefined;
  const { unfinishedBefore } = await import('../wings/nights/index.ts');
  const unfinished = await unfinishedBefore(context, job, today);
  if (unfinished === undefined) return undefined;
  if (!job.ids.from.includes('-')) return { job: unfinished };
  return { warning: `${unfinished.output.dir} stays unfinished: the ids on stdin are for today's export` };
}

/** The warning about an unfinished export whose job or inputs are others now. */
export function leftAlone(change: ExportError): string {
  return `${change.message}; the earlier export stays unfinished, and today's export starts`;
}
