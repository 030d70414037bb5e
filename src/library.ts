import type { AssetFate } from './core/run/get-assets.ts';
import type { CustomSink } from './core/formats/custom-sink.ts';
import type { Format } from './core/formats/sink.ts';
import { jobFields } from './core/job/job-fields.ts';
import { isEmbedded, type Job, type JobInput } from './core/job/job-schema.ts';
import { type LoadedJob, loadJob } from './core/job/load-job.ts';
import type { ExportContext } from './core/run/export-context.ts';
import type { ExportAccount, ExportOutcome } from './core/run/export-outcome.ts';
import { bucketIds } from './core/run/homes/bucket-ids.ts';
import { localFolder } from './core/run/homes/local-folder.ts';
import { openStoreAt } from './core/run/homes/open-home.ts';
import type { ExportPlan } from './core/run/plan-export.ts';
import { errorOf } from './core/run/tolerance.ts';
import type { RunListener } from './core/work/run-events.ts';
import type { ExportRow } from './exports/read-rows.ts';
import type { Verification, VerifyProgress } from './exports/verify-export.ts';
import { requireAddress } from './lib/addresses/address.ts';
import { isBucketAddress } from './lib/addresses/bucket-address.ts';
import { systemClock } from './lib/clock.ts';
import { makeTemporary } from './lib/disk/make-folder.ts';
import { exitCodes } from './lib/exit-codes.ts';
import { ExportError } from './lib/export-error.ts';
import { LinkedAbort } from './lib/linked-abort.ts';
import { thenCleanUp } from './lib/clean-up.ts';
import { exportPaths, pathIn } from './places/export/export-folder.ts';
import { diskFileStore, type FileStore } from './places/files/file-store.ts';
import type { ObjectStore } from './places/objects/object-store.ts';
import type { ExportStatus } from './wings/status/index.ts';
import { ledgerInExport, openService, type OpenService } from './world/open-service.ts';
import { programThreads } from './world/program-threads.ts';
import { programVersion } from './world/program-version.ts';
import { observe, runWings } from './world/wings.ts';

/** What an export is made of: the fields of a job that most need; the others in `job`. */
export interface JobOptions {
  /** Files or patterns of ids. */
  readonly ids?: string | readonly string[];
  /** Base address of the service, without `/v3/<key>`. */
  readonly url?: string;
  /** Folder of the export, or its address in a bucket. */
  readonly out?: string;
  /** The key is in this file, or else in `ASSET_EXPORT_API_KEY`. */
  readonly apiKeyFile?: string;
  /** Empty: those of `sinks` alone. */
  readonly formats?: readonly Format[];
  readonly tables?: readonly string[];
  readonly budget?: NonNullable<JobInput['budget']>;
  /** A job, or the path of a job file. What is named above comes before its fields. */
  readonly job?: JobInput | string;
  /** Environment variables; those of the process unless given. Nothing is taken out of it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where relative paths start; the working directory unless given. */
  readonly cwd?: string;
  /** Folder of this user's ledgers. */
  readonly stateDir?: string;
  readonly world?: World;
}

/** What tests and programs replace. Defaults are those of the command. */
export type World = Partial<
  Pick<
    ExportContext,
    'clock' | 'random' | 'files' | 'ledger' | 'openWire' | 'openStore' | 'stdin' | 'threads' | 'freeSpace' | 'observe'
  >
>;

export interface ExportOptions extends JobOptions {
  /** Throw away what an earlier run left. */
  readonly fresh?: boolean;
  /** Formats to write besides those of the job. With them one thread makes all parts. */
  readonly sinks?: readonly CustomSink[];
  /** Aborted: no new call begins, answers in flight are kept. */
  readonly stop?: AbortSignal;
  /** Hears what happens, as it happens. */
  readonly onEvent?: RunListener;
}

/** How a run ended, and the account of its export. */
export interface ExportResult extends Omit<ExportOutcome, 'account' | 'error'>, ExportAccount {
  /** The exit code of the command. */
  readonly exitCode: number;
  /** Why that is not 0. */
  readonly error?: ExportError;
}

const never = new AbortController().signal;

/**
 * Starts an export, or continues it: the same call either way. Prints nothing and handles no signals.
 * @throws {ExportError} only before anything begins; later errors are in the result
 */
export async function exportInOneCall(options: ExportOptions): Promise<ExportResult> {
  const { idsFolder, outputDir, ...loaded } = jobOf(options);
  const { world = {}, fresh = false, sinks = [], stop = never, onEvent = () => undefined } = options;
  // Formats of the program alone.
  const job = options.formats?.length === 0 ? withoutFormats(loaded.job) : loaded.job;
  const tell = (message: string): void => {
    onEvent({ kind: 'warning', message });
  };
  const open = await serviceOf(job, options, tell);
  open.warnings?.forEach(tell);
  const { exportAssets } = await import('./core/run/export-assets.ts');
  const stopping = new LinkedAbort(stop, interruptedBy);
  const context: ExportContext = {
    threads: programThreads(job),
    observe,
    ...contextOf(world, open),
    stdin: world.stdin ?? process.stdin,
    files: world.files ?? diskFileStore,
    version: programVersion(),
    stop: stopping.signal,
    abort: never,
    listener: onEvent,
  };
  const outcome = await thenCleanUp({
    work: () => exportAssets({ job, idsFolder, outputDir, fresh, sinks }, { ...runWings, ...context }),
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [
      async () => {
        stopping.unlink();
      },
      () => open.close(),
    ],
  });
  const { account, ...rest } = outcome;
  const error = errorOf(outcome, job);
  const exitCode = error?.exitCode ?? exitCodes.complete.code;
  return { ...rest, ...account, exitCode, ...(error === undefined ? {} : { error }) };
}

/** What such an export would cost from where it stands. Sends nothing, and needs no key. @throws {ExportError} */
export async function planInOneCall(options: JobOptions & Pick<ExportOptions, 'fresh'>): Promise<ExportPlan> {
  const { job, idsFolder, outputDir } = jobOf(options);
  const { world = {}, fresh = false } = options;
  const { clock = systemClock, random = Math.random, files = diskFileStore, openStore } = world;
  const { stdin = process.stdin, freeSpace } = world;
  const { planExport } = await import('./core/run/plan-export.ts');
  const { prepareInputs } = await import('./core/ids/prepare-inputs.ts');
  const { bookedFor } = await import('./world/booked-credits.ts');
  const store = openStore === undefined ? {} : { openStore };
  const ledger = world.ledger ?? bookedFor(job, lookedIn(options));
  const folder = await makeTemporary('plan');
  return thenCleanUp({
    work: async () => {
      const findRemote = bucketIds(job, { clock, random, ...store });
      const prepared = await prepareInputs({ job, idsFolder, outputDir, files, stdin, folder, findRemote });
      const counted = ledger === undefined ? {} : { ledger };
      const disk = freeSpace === undefined ? {} : { freeSpace };
      return planExport({ ...runWings, job, prepared, files, clock, fresh, ...store, ...counted, ...disk });
    },
    cleanUp: [() => diskFileStore.remove(folder)],
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
  const { ids, world = {}, stop = never, onEvent = () => undefined, ...rest } = options;
  const { job } = jobOf({ ...rest, ids: '-', out: '.' });
  const open = await serviceOf(job, options, (message) => {
    onEvent({ kind: 'warning', message });
  });
  const { getAssets } = await import('./core/run/get-assets.ts');
  try {
    const context = { ...contextOf(world, open), stop, abort: never, listener: onEvent };
    yield* getAssets({ ids, job }, context);
  } finally {
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
export async function statusInOneCall({ out, world = {} }: PlaceOptions): Promise<ExportStatus> {
  const { statusAt } = await import('./wings/status/index.ts');
  const { clock = systemClock, files = diskFileStore } = world;
  const store = await storeOf(out, world);
  const folder = requireAddress(out, 'export', 'out');
  return statusAt({ files, folder, ...(store === undefined ? {} : { store }) }, clock.now());
}

/** Reads every file of a complete export and compares it with the manifest. @throws {ExportError} `damaged` without a manifest */
export async function verifyInOneCall(
  options: PlaceOptions & { readonly onProgress?: (progress: VerifyProgress) => void },
): Promise<Verification> {
  const { verifyExport } = await import('./exports/verify-export.ts');
  return verifyExport(await filesOf(options), options.out, { onProgress: options.onProgress });
}

/** The rows of one table of a complete export (`assets` unless named), in the order of the ids. @throws {ExportError} */
export async function* rowsInOneCall(options: PlaceOptions & { readonly table?: string }): AsyncGenerator<ExportRow> {
  const { readRows } = await import('./exports/read-rows.ts');
  const { out: folder, table = 'assets' } = options;
  yield* readRows({ files: await filesOf(options), folder, table });
}

/** The job that options name: a file or an object, then the options, then the environment where neither says something. */
function jobOf({ ids, url, out, apiKeyFile, formats, tables, budget = {}, job, ...from }: JobOptions): LoadedJob {
  const flagOf = new Map(jobFields.map(({ path, flag }) => [path, flag]));
  const given: Readonly<Record<string, unknown>> = {
    'ids.from': ids,
    'service.url': url,
    'service.apiKeyFile': apiKeyFile,
    'output.dir': out,
    'output.formats': formats?.length === 0 ? undefined : formats,
    'output.tables': tables,
    ...Object.fromEntries(Object.entries(budget).map(([name, value]) => [`budget.${name}`, value])),
  };
  const flags: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(given)) {
    const flag = flagOf.get(path);
    if (flag === undefined) throw new ExportError('usage', `${path} is not a field of a job`);
    if (value === undefined) continue;
    flags[flag] = path === 'budget.overrun' && Array.isArray(value) ? value.join(',') : value;
  }
  const source = typeof job === 'string' ? { file: job } : job === undefined ? {} : { job };
  const { env = process.env, cwd = process.cwd() } = from;
  return loadJob({ ...source, flags, environment: env, folder: cwd });
}

function withoutFormats(job: Job): Job {
  return { ...job, output: { ...job.output, formats: [] } };
}

/** A program's reason to stop, as one that has an exit code. */
function interruptedBy(cause: unknown): unknown {
  return cause instanceof ExportError ? cause : new ExportError('interrupted', 'stopped', { cause });
}

/** Where the key and the ledger of options are looked for. */
function lookedIn({ apiKeyFile, env = process.env, cwd = process.cwd(), stateDir }: Omit<JobOptions, 'ids'>) {
  // The key is taken out of a copy.
  return { env: { ...env }, cwd: () => cwd, stateDir, keyFileFromFlag: apiKeyFile !== undefined };
}

function serviceOf(job: Job, options: Omit<JobOptions, 'ids'>, tell: (message: string) => void): Promise<OpenService> {
  const folder = localFolder(job);
  return openService({
    ...lookedIn(options),
    job,
    tell,
    ledger: options.world?.ledger,
    embeddedLedger: () => ledgerInExport(folder, undefined),
    ...(isEmbedded(job.service.url) ? { spillDir: pathIn(folder, exportPaths.embedded) } : {}),
  });
}

function contextOf(world: World, open: OpenService) {
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

async function storeOf(out: string, world: PlaceOptions['world'] = {}): Promise<ObjectStore | undefined> {
  if (!isBucketAddress(out)) return undefined;
  const { clock = systemClock, random = Math.random, openStore } = world;
  return openStoreAt(out, undefined, { clock, random, openStore });
}

async function filesOf({ out, world = {} }: PlaceOptions): Promise<FileStore> {
  const store = await storeOf(out, world);
  if (store === undefined) return world.files ?? diskFileStore;
  const { bucketFiles } = await import('./places/export/bucket-files.ts');
  return bucketFiles(store, out);
}
