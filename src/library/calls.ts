import {
  exportMembers,
  type ExportOptions,
  jobMembers,
  jobIn,
  type JobOptions,
  lookedIn,
  requireMembers,
  type World,
  fieldOfMember,
} from './options.ts';
import { type CreditLedger, createMemoryLedger } from '../core/client/ledger/credit-ledger.ts';
import { jobOn, jobWarnings, type Job } from '../core/job/job-schema.ts';
import type { AssetFate } from '../core/run/get-assets.ts';
import type { ExportContext } from '../core/run/export-context.ts';
import type { ExportAccount, ExportOutcome } from '../core/run/complete-export.ts';
import { openPlace, bucketIds } from '../core/run/homes/open-home.ts';
import type { ExportPlan } from '../core/run/plan-export.ts';
import { errorOf } from '../core/run/tolerance.ts';
import type { RunListener } from '../core/work/run-events.ts';
import type { NamedRow } from '../core/records/table.ts';
import type { TableRows } from '../core/records/columns.ts';
import type { Verification, VerifyProgress } from '../exports/verify-export.ts';
import { requireAddress } from '../lib/addresses/address.ts';
import { isBucketAddress } from '../lib/addresses/address-kinds.ts';
import { systemClock, utcDay } from '../lib/clock.ts';
import { makeTemporary } from '../lib/disk/on-disk.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError, messageOf } from '../lib/export-error.ts';
import { LinkedAbort, thenCleanUp } from '../lib/end-work.ts';
import { exportPaths, pathIn, requireExportFolder } from '../places/export/export-folder.ts';
import { type ExportPlace, localFolder } from '../core/run/homes/export-place.ts';
import { folderPlace } from '../places/files/folder-place.ts';
import { localDisk } from '../places/files/disk.ts';
import type { PostgresLedger, PostgresLedgerOptions } from '../wings/fleet/index.ts';
import type { ExportStatus } from '../wings/status/index.ts';
import { ledgerInExport, openService, type OpenService } from '../world/open-service.ts';
import { programThreads, observeIn, runWings } from '../world/wings.ts';
import { programVersion } from '../lib/packages/package-root.ts';
import { jobFields } from '../core/job/job-fields.ts';

/** How a run ended, and the account of its export. */
export interface ExportResult extends Omit<ExportOutcome, 'account' | 'error'>, ExportAccount {
  /** The exit code of the command. */
  readonly exitCode: number;
  /** Why that is not 0. */
  readonly error?: ExportError;
}

export const never: AbortSignal = new AbortController().signal;

/**
 * Starts an export, or continues it: the same call either way. Prints nothing and handles no signals.
 * @throws {ExportError} only before anything begins; later errors are in the result
 */
export async function exportInOneCall(options: ExportOptions): Promise<ExportResult> {
  requireMembers(options, exportMembers);
  return inCall(() => exportOnce(options));
}

async function exportOnce(options: ExportOptions): Promise<ExportResult> {
  const { job, idsFolder, outputDir } = jobIn(options);
  const { world = {}, fresh = false } = options;
  const { clock = systemClock, files = localDisk, stdin = process.stdin } = world;
  const dated = jobOn(job, utcDay(clock.now()));
  // An embedded service keeps its balance in the folder: not in one that is not an export.
  if (!isBucketAddress(dated.output.dir))
    await requireExportFolder(folderPlace(files, dated.output.dir), dated.output.dir);
  const told = new Told(options);
  const { listener, tell } = told;
  const open = await serviceOf(dated, options, tell, () => ledgerInExport(localFolder(dated), undefined));
  for (const message of [...jobWarnings(job), ...(open.warnings ?? [])]) tell(message);
  const { exportAssets } = await import('../core/run/export-assets.ts');
  const context: ExportContext = {
    threads: programThreads(job),
    observe: observeIn(options.env ?? process.env),
    ...contextOf(world, open),
    stdin,
    files,
    version: programVersion(),
    stop: told.stop,
    abort: never,
    listener,
  };
  const outcome = await thenCleanUp({
    work: () => exportAssets({ job, idsFolder, outputDir, fresh }, { ...runWings, ...context }),
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [
      async () => {
        told.end();
      },
      () => open.close(),
    ],
  });
  const { account, ...rest } = outcome;
  const error = errorOf(outcome, job) ?? told.failure;
  const exitCode = error?.exitCode ?? exitCodes.complete.code;
  byMember(error);
  return { ...rest, ...account, exitCode, ...(error === undefined ? {} : { error }) };
}

/** What such an export would cost from where it stands. Sends nothing, and needs no key. @throws {ExportError} */
export async function planInOneCall(options: JobOptions & Pick<ExportOptions, 'fresh'>): Promise<ExportPlan> {
  requireMembers(options, exportMembers);
  return inCall(() => planOnce(options));
}

async function planOnce(options: JobOptions & Pick<ExportOptions, 'fresh'>): Promise<ExportPlan> {
  const { job, idsFolder, outputDir } = jobIn(options);
  const { world = {}, fresh = false } = options;
  const { clock = systemClock, random = Math.random, files = localDisk, openStore } = world;
  const { stdin = process.stdin, freeSpace } = world;
  const { planExport } = await import('../core/run/plan-export.ts');
  const { prepareInputs } = await import('../core/ids/prepare-inputs.ts');
  const { bookedFor } = await import('../world/open-service.ts');
  const store = openStore === undefined ? {} : { openStore };
  const ledger = world.ledger ?? bookedFor(job, lookedIn(options));
  const folder = await makeTemporary('plan');
  return thenCleanUp({
    work: async () => {
      const findRemote = bucketIds(job, { clock, random, ...store });
      const prepared = await prepareInputs({ job, idsFolder, outputDir, files, stdin, folder, findRemote });
      const counted = ledger === undefined ? {} : { ledger };
      const disk = freeSpace === undefined ? {} : { freeSpace };
      return planExport({
        ...runWings,
        job,
        outputDir,
        prepared,
        files,
        clock,
        fresh,
        ...store,
        ...counted,
        ...disk,
      });
    },
    cleanUp: [() => localDisk.remove(folder)],
  });
}

/** Assets without an export. */
export interface GetOptions extends Omit<JobOptions, 'ids' | 'out' | 'formats' | 'tables'> {
  /** Valid ids. A repeated id of an array is requested once; a stream repeats none. */
  readonly ids: readonly string[] | AsyncIterable<string>;
  readonly stop?: AbortSignal;
  readonly onEvent?: RunListener;
}

/** Gets assets, in the order of the ids. @throws {ExportError} `usage` when one is no asset id; nothing is sent then */
export async function* getInOneCall(options: GetOptions): AsyncGenerator<AssetFate, void, void> {
  requireMembers(options, ['ids', ...jobMembers, 'stop', 'onEvent']);
  yield* eachInCall(getEach(options));
}

async function* getEach(options: GetOptions): AsyncGenerator<AssetFate, void, void> {
  const { ids, world = {}, ...rest } = options;
  const { job } = jobIn({ ...rest, ids: '-', out: '.' });
  const told = new Told(options);
  const { listener, tell } = told;
  const open = await serviceOf(job, options, tell, async () => createMemoryLedger());
  const { getAssets } = await import('../core/run/get-assets.ts');
  try {
    open.warnings?.forEach(tell);
    yield* getAssets({ ids, job }, { ...contextOf(world, open), stop: told.stop, abort: never, listener });
  } finally {
    told.end();
    await open.close();
  }
}

/** An export that is there. */
export interface PlaceOptions {
  /** Its folder, or its address in a bucket. */
  readonly out: string;
  readonly world?: Pick<World, 'clock' | 'random' | 'files' | 'openStore'>;
}

/** How an export stands. @throws {ExportError} `usage` where there is none */
export async function statusInOneCall(options: PlaceOptions): Promise<ExportStatus> {
  const { statusAt } = await import('../wings/status/index.ts');
  const { clock = systemClock } = options.world ?? {};
  return inCall(async () => statusAt(await placeOf(options, []), clock.now()));
}

/** Reads every file of a complete export and compares it with the manifest. @throws {ExportError} `damaged` without a manifest */
export async function verifyInOneCall(
  options: PlaceOptions & { readonly onProgress?: (progress: VerifyProgress) => void },
): Promise<Verification> {
  const { verifyExport } = await import('../exports/verify-export.ts');
  return inCall(async () => {
    const { files, folder } = await placeOf(options, ['onProgress']);
    return verifyExport(files, folder, { onProgress: options.onProgress });
  });
}

/** The rows of one table of a complete export (`assets` unless named), in the order of the ids. @throws {ExportError} */
export async function* rowsInOneCall<T extends keyof TableRows = 'assets'>(
  options: PlaceOptions & { readonly table?: T },
): AsyncGenerator<TableRows[T], void, void> {
  const { readRows } = await import('../exports/finished-export.ts');
  const { files, folder } = await placeOf(options, ['table']);
  const rows = readRows({ files, folder, table: options.table ?? 'assets' });
  yield* eachInCall(rows as AsyncGenerator<NamedRow & TableRows[T], void, void>);
}

/** Tells a program what happens, and stops when it says so, or when it fails at hearing. */
class Told {
  readonly listener: RunListener;
  /** How the program failed at hearing. */
  failure: ExportError | undefined;
  readonly #stop: LinkedAbort;
  readonly tell = (message: string): void => {
    this.listener({ kind: 'warning', message });
  };

  constructor({ stop = never, onEvent = () => undefined }: Pick<ExportOptions, 'stop' | 'onEvent'>) {
    this.#stop = new LinkedAbort(stop, interruptedBy);
    this.listener = (event) => {
      try {
        onEvent(event);
      } catch (cause) {
        this.failure ??= new ExportError('bug', `onEvent failed: ${messageOf(cause)}`, { cause });
        this.#stop.abort(this.failure);
      }
    };
  }

  get stop(): AbortSignal {
    return this.#stop.signal;
  }

  end(): void {
    this.#stop.unlink();
  }
}

/** A program's reason to stop, as one that has an exit code. */
function interruptedBy(cause: unknown): unknown {
  return cause instanceof ExportError ? cause : new ExportError('interrupted', 'stopped', { cause });
}

export function serviceOf(
  job: Job,
  options: Omit<JobOptions, 'ids'>,
  tell: (message: string) => void,
  embeddedLedger: () => Promise<CreditLedger>,
): Promise<OpenService> {
  const ledger = options.world?.ledger;
  const spillDir = pathIn(localFolder(job), exportPaths.embedded);
  return openService({ ...lookedIn(options), job, tell, ledger, embeddedLedger, spillDir });
}

export function contextOf(world: World, open: OpenService) {
  const { service, proxy, pace, ledger } = open;
  return {
    random: Math.random,
    ...world,
    clock: world.clock ?? open.clock ?? systemClock,
    service,
    proxy,
    pace,
    ledger,
  };
}

/** @param more members that the call takes besides @throws {ExportError} `usage` */
function placeOf(options: PlaceOptions, more: readonly string[]): Promise<ExportPlace> {
  requireMembers(options, ['out', 'world', ...more]);
  const { out, world = {} } = options;
  if (typeof (out as unknown) !== 'string')
    throw new ExportError('usage', 'out is missing', {
      todo: 'Give the folder of the export, or its address in a bucket.',
    });
  const { clock = systemClock, random = Math.random, files = localDisk, openStore } = world;
  return openPlace(requireAddress(out, 'export', 'out'), undefined, { clock, random, files, openStore });
}

/** Opens the ledger that several machines share, in PostgreSQL. Whoever opens it closes it. @throws {ExportError} */
export async function openSharedLedger(address: string, options: PostgresLedgerOptions): Promise<PostgresLedger> {
  return (await import('../wings/fleet/index.ts')).openPostgresLedger(address, options);
}

/**
 * The export that is to be finished before the one of `today` (`YYYY-MM-DD`) begins: the newest of a job with `{date}`, where it
 * is unfinished; undefined otherwise.
 */
export async function unfinishedOf(world: PlaceOptions['world'], job: Job, today: string): Promise<Job | undefined> {
  const { files = localDisk, openStore } = world ?? {};
  return (await import('../wings/nights/index.ts')).unfinishedBefore({ files, openStore }, job, today);
}

const everyFlag = ', asset-export help flags for every flag';

/** A command line, which stays as a shell takes it, or a flag. */
const commandOrFlag = /\basset-export (?:[^,:.\n]|[,:.]\S)*|--([a-z][a-z-]*)/g;

/**
 * Makes an error of the core name the members of a call where it names flags of the command: `formats`, `budget.creditsPerRun`,
 * `job.output.compression`.
 * @param members of the call, which may be called as other fields' flags are
 */
export function byMember(error: unknown, members: readonly string[] = exportMembers): unknown {
  if (!(error instanceof ExportError)) return error;
  const nameOf = (flag: string): string => {
    const member = flag.replaceAll(/-[a-z]/g, (at) => at.slice(1).toUpperCase());
    if (members.includes(member)) return member;
    const path = jobFields.find((field) => field.flag === flag)?.path;
    if (path === undefined) return `--${flag}`;
    const own = Object.entries(fieldOfMember).find(([, field]) => field === path)?.[0];
    return own ?? (path.startsWith('budget.') ? path : `job.${path}`);
  };
  const named = (text: string): string =>
    text
      .replace(everyFlag, '')
      .replaceAll(commandOrFlag, (found, flag: string | undefined) => (flag === undefined ? found : nameOf(flag)));
  const { message, todo } = error;
  return Object.assign(error, { message: named(message), ...(todo === undefined ? {} : { todo: named(todo) }) });
}

/** @throws what the work throws, in the words of the library */
export async function inCall<T>(work: () => Promise<T>, members?: readonly string[]): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw byMember(error, members);
  }
}

/** @throws what the items throw, in the words of the library */
async function* eachInCall<T>(items: AsyncGenerator<T, void, void>): AsyncGenerator<T, void, void> {
  try {
    yield* items;
  } catch (error) {
    throw byMember(error);
  }
}
