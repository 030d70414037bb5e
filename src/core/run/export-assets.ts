import { serviceAddress } from '../client/wire/service-address.ts';
import { firstNight } from '../job/job-base.ts';
import type { Job } from '../job/job-schema.ts';
import type { OpenBase } from '../../wings/nights/base/open-base.ts';
import { utcDay } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { type CustomSink, requireDistinctSinks } from '../formats/custom-sink.ts';
import { aboutEntriesIn } from '../ids/read/first-entries.ts';
import { areKept, prepareInputs, type PreparedInputs } from '../ids/prepare-inputs.ts';
import { readJobIds, newReadProgress } from '../work/read-job-ids.ts';
import type { ExportStart } from '../../places/scratch/checkpoint.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportContext } from '../work/export-context.ts';
import { requireRunnable } from './before-run.ts';
import { manifestOf } from './complete-export.ts';
import { dateWord, jobOn, shortOfEarlier } from '../../wings/nights/dated-exports.ts';
import { warnOfDisk } from './disk-space.ts';
import { alreadyComplete, type ExportOutcome } from './export-outcome.ts';
import { type ExportedSlices, exportOpen } from './export-slices.ts';
import type { ExportHome } from './homes/export-home.ts';
import { bucketIds } from './homes/bucket-ids.ts';
import { completedElsewhere } from './homes/completed-elsewhere.ts';
import { completeBefore, holdingHome } from './homes/hold-home.ts';
import { openHome } from './homes/open-home.ts';
import { jobShape, requireSame } from './job-shape.ts';
import { type ObservedContext, observedRun } from './observed-run.ts';
import { baseOf, BasedAnswers, newBase, type Reading } from '../../wings/nights/based-export.ts';
import { isOverUnlisted } from './tolerance.ts';
import { recordVerdict } from './record-verdict.ts';
import { reportRun } from '../../wings/report/report-run.ts';
import { afterNight } from '../../wings/nights/after-night.ts';
import { requireLatestFree } from '../../wings/nights/point-latest.ts';

export interface ExportRequest {
  readonly job: Job;
  /** Folder at which relative patterns of `ids.from` start. */
  readonly idsFolder: string;
  /**
   * `output.dir` as the job has it, with `{date}`: patterns of `ids.from` pass over what lies there, and `output.keep` looks there;
   * that of `job` unless given.
   */
  readonly outputDir?: string | undefined;
  /** Throw away what an earlier run left. */
  readonly fresh: boolean;
  /** Formats to write besides `output.formats`, which may be empty then. With them one thread makes all parts. */
  readonly sinks?: readonly CustomSink[];
}

/**
 * Starts an export, or continues it: the same request either way.
 *
 * An error that stops a run is part of the outcome, so that the account can be reported with it.
 * @throws {ExportError} when the export cannot be opened: `usage`, `input`, `locked`, `damaged`, `cannotWrite`
 */
export async function exportAssets(given: ExportRequest, context: ExportContext): Promise<ExportOutcome> {
  const startedAtMs = context.clock.now();
  const outputDir = given.outputDir ?? given.job.output.dir;
  const request = { ...given, outputDir, job: jobOn(given.job, utcDay(startedAtMs)) };
  const { job } = request;
  return observedRun({ ...context, job, startedAtMs }, (observed) => exportHome(request, observed));
}

async function exportHome(
  request: ExportRequest & { readonly outputDir: string },
  context: ObservedContext,
): Promise<ExportOutcome> {
  requireDistinctSinks(request.sinks ?? []);
  const home = await openHome(request.job, context);
  await home.requireOwn();
  // What the client refuses is known before anything is written.
  serviceAddress(context.service);
  requireRunnable(request.job);
  await requireLatestFree(request.job, context);
  const finished = request.fresh ? undefined : await finishedBefore(request, home, context);
  if (finished !== undefined) {
    await recordVerdict({ place: home.place, job: request.job }, finished, context);
    await afterNight({ ...request, account: finished.account }, context);
    return finished;
  }
  const outcome = await holdingHome(home, context, () => exportLocked(request, home, context));
  if (outcome.state === 'complete') await compareWithEarlier(request, outcome, context);
  if (outcome.state === 'already') await recordVerdict({ place: home.place, job: request.job }, outcome, context);
  // A run that ends before this is followed by one that finds the export complete.
  if (outcome.state !== 'unfinished') await afterNight({ ...request, account: outcome.account }, context);
  const isReported = outcome.state === 'already' || (outcome.state === 'complete' && isLocal(home));
  if (request.job.output.report && !isReported) await reportRun(home.place, context);
  return outcome;
}

/** A list that is cut short makes an export that looks like any other. */
async function compareWithEarlier(
  { job, outputDir }: ExportRequest & { readonly outputDir: string },
  { account }: ExportOutcome,
  context: ObservedContext,
): Promise<void> {
  const pattern = { ...job, output: { ...job.output, dir: outputDir } };
  const at = outputDir.indexOf(dateWord);
  const today = job.output.dir.slice(at, at + 'YYYY-MM-DD'.length);
  const message = await shortOfEarlier(context, pattern, { read: account.counts.read, today });
  if (message !== undefined) context.listener({ kind: 'warning', message });
}

/** The record of its runs is put into a bucket only when the export is given up: a report needs it. */
function isLocal({ place }: ExportHome): boolean {
  return place.store === undefined;
}

/** The account of an export that is complete and has no running process. Reading it takes no lock and writes nothing. */
async function finishedBefore(
  { job, idsFolder, outputDir, sinks }: ExportRequest,
  home: ExportHome,
  context: ExportContext,
): Promise<ExportOutcome | undefined> {
  const { files, stdin } = context;
  // Ids from stdin or a bucket have to be kept to be compared, which needs the lock.
  if (areKept(job)) return undefined;
  const manifest = await home.readIdle();
  // One that is set aside may be judged anew, which changes its manifest.
  if (manifest === undefined || manifest.setAside !== undefined) return undefined;
  const { fingerprints } = await prepareInputs({ job, idsFolder, outputDir, files, stdin, folder: home.scratch });
  requireSame(home.name, manifest, { job: jobShape(job, sinks), inputs: [...fingerprints] });
  return alreadyComplete(home.name, manifest);
}

async function exportLocked(
  { job, idsFolder, outputDir, fresh, sinks = [] }: ExportRequest,
  home: ExportHome,
  context: ObservedContext,
): Promise<ExportOutcome> {
  const { files, clock, listener } = context;
  const startedAtMs = clock.now();
  const folder = home.scratch;
  const { stdin, stop } = context;
  const findRemote = bucketIds(job, context);
  const onNote = (message: string): void => {
    listener({ kind: 'warning', message });
  };
  const sources = { job, idsFolder, outputDir, files, stdin, stop, folder, findRemote, onNote };
  const prepared = await prepareInputs(sources);
  // A process that was stopped meanwhile may have read half of its stdin.
  if (fresh || areKept(job)) context.stop.throwIfAborted();
  // Only now: for inputs or a base that cannot be read nothing is thrown away.
  const anew = fresh ? await newBase(job, context) : undefined;
  if (fresh || (await home.isThrowingAway())) await home.throwAway({ inputs: prepared.inputs, sinks, stop });
  const shape = { job: jobShape(job, sinks), inputs: [...prepared.fingerprints], startedAtMs };
  const finished = await completeBefore(home, shape, job.tolerance);
  if (finished !== undefined) return finished;
  try {
    return await exportUnfinished({ job, sinks, home, prepared, shape, anew }, context, startedAtMs);
  } catch (error) {
    const done = (await completedMeanwhile(home, error)) && (await completeBefore(home, shape, job.tolerance));
    if (done === undefined) throw error;
    return done;
  }
}

/** Who finds that another process works on the export says so, whatever became of it since. */
async function completedMeanwhile(home: ExportHome, error: unknown): Promise<Manifest | undefined> {
  const isHeld = error instanceof ExportError && error.exit === 'locked' && error.facts['startedOver'] !== true;
  return isHeld ? undefined : completedElsewhere(home, error);
}

interface Unfinished {
  readonly job: Job;
  readonly sinks: readonly CustomSink[];
  readonly home: ExportHome;
  readonly prepared: PreparedInputs;
  readonly shape: ExportStart;
  /** The base, where the export is started over. */
  readonly anew: OpenBase | undefined;
}

async function exportUnfinished(
  { job, sinks, home, prepared, shape, anew }: Unfinished,
  context: ObservedContext,
  startedAtMs: number,
): Promise<ExportOutcome> {
  const { listener } = context;
  const progress = newReadProgress();
  const base = anew ?? (await baseOf(job, { home, context }, shape));
  const first = firstNight(job, base !== undefined);
  if (first !== undefined) listener({ kind: 'warning', message: first });
  const start =
    base === undefined ? shape : { ...shape, base: { folder: base.folder, name: base.name, seal: base.seal } };
  const reading: Reading = { entries: () => readJobIds(job, prepared, progress, listener) };
  const open = await home.open(start, () => reading.entries());
  // A night knows more when it has chosen what it requests.
  if (base === undefined && open.commits().length === 0) {
    const entries = aboutEntriesIn(prepared, job.ids.limit);
    await warnOfDisk(job, { assets: entries, entries }, context);
  }
  const answers =
    base === undefined ? undefined : new BasedAnswers({ job, base, home, prepared, open, progress, reading, sinks });
  const exported: ExportedSlices = {
    job,
    sinks,
    inputs: prepared,
    name: home.name,
    recordFolder: home.scratch,
    open,
    progress,
    answers,
    whenLost: 'end',
    completedElsewhere: (error: ExportError) => completedMeanwhile(home, error),
    ...(job.output.report && isLocal(home) ? { report: () => reportRun(home.place, context) } : {}),
    finish: () => {
      const { version } = context;
      const spent = answers?.spent() ?? open.spent();
      const account = answers?.account() ?? {};
      return home.putManifest(
        manifestOf({
          job,
          start: open.start,
          commits: open.commits(),
          ...spent,
          version,
          ...account,
          ...(job.ids.limit === undefined && isOverUnlisted(account.base, job.tolerance)
            ? { setAside: 'unlisted' }
            : {}),
        }),
      );
    },
  };
  return exportOpen(exported, context, startedAtMs);
}
