import { serviceAddress } from '../client/wire/service-address.ts';
import { jobOn } from '../job/job-traits.ts';
import { dateWord } from '../job/night-names.ts';
import { firstNight, hasBase } from '../job/job-base.ts';
import type { Job } from '../job/job-schema.ts';
import { kernelProblem } from '../../lib/kernel/kernel.ts';
import { utcDay } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { aboutEntriesIn } from '../ids/read/first-entries.ts';
import { areKept, prepareInputs } from '../ids/prepare-inputs.ts';
import { readJobIds, newReadProgress } from '../work/read-job-ids.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportContext } from './export-context.ts';
import { plannedLeft } from './calls-left.ts';
import { manifestOf } from './complete-export.ts';
import { warnOfDisk, requireRunnable } from './disk-estimate.ts';
import { alreadyComplete, type ExportOutcome } from './export-outcome.ts';
import { type ExportedSlices, exportOpen } from './export-slices.ts';
import type { ExportHome } from './homes/export-home.ts';
import { completeBefore, holdingHome, completedElsewhere } from './homes/hold-home.ts';
import { openHome, bucketIds } from './homes/open-home.ts';
import { jobShape, requireSame } from './job-shape.ts';
import { type ObservedContext, observedRun } from './observed-run.ts';
import { reportFor, type RunWings } from './run-wings.ts';
import {
  type AfterComplete,
  afterComplete,
  type BasedExport,
  type ExportBase,
  type Nights,
  nightsFor,
  type Reading,
} from './nights.ts';
import { followerFor, requireFollowable, throwAwayFollowed } from './night-follower.ts';
import { isOverUnlisted } from './tolerance.ts';

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
  /** `budget.creditsPerRun` is what another export of the same run has left: it may be less than a call. */
  readonly isRest?: boolean | undefined;
}

/**
 * Starts an export, or continues it: the same request either way.
 *
 * An error that stops a run is part of the outcome, so that the account can be reported with it.
 * @throws {ExportError} when the export cannot be opened: `usage`, `input`, `locked`, `damaged`, `cannotWrite`
 */
export async function exportAssets(given: ExportRequest, context: ExportContext & RunWings): Promise<ExportOutcome> {
  const startedAtMs = context.clock.now();
  const outputDir = given.outputDir ?? given.job.output.dir;
  const request = { ...given, wings: context, outputDir, job: jobOn(given.job, utcDay(startedAtMs)) };
  const { job } = request;
  return observedRun({ ...context, job, startedAtMs }, (observed) => exportHome(request, observed));
}

/** A request with its pattern, for the folder of a day. */
type Request = ExportRequest & { readonly outputDir: string; readonly wings: RunWings };

async function exportHome(request: Request, context: ObservedContext): Promise<ExportOutcome> {
  const home = await openHome(request.job, context);
  await home.requireOwn();
  // What the client refuses is known before anything is written.
  serviceAddress(context.service);
  requireRunnable(request.job, request.isRest);
  const nights = await nightsFor(withPattern(request), request.wings.nights);
  const report = reportFor(request.job, request.wings);
  const following = { ...context, lake: followerFor(withPattern(request), request.wings) };
  const after = afterComplete(nights, { job: request.job, outputDir: request.outputDir, place: home.place }, following);
  await nights?.requireLatestFree(request.job, context);
  await requireFollowable({ job: request.job, outputDir: request.outputDir }, following);
  const finished = request.fresh ? undefined : await finishedBefore(request, home, context);
  if (finished !== undefined) {
    const published = await after.publish(finished);
    await after.keep(published);
    return published;
  }
  const ready = { ...request, nights, report, publish: after.publish };
  const outcome = await holdingHome(home, context, () => exportLocked(ready, home, context));
  if (outcome.state === 'complete' && nights !== undefined)
    await compareWithEarlier(request, nights, { outcome, context });
  // A run that ends before this is followed by one that finds the export complete.
  const published = outcome.state === 'already' ? await after.publish(outcome) : outcome;
  await after.keep(published);
  const isReported = outcome.state === 'already' || (outcome.state === 'complete' && isLocal(home));
  if (report !== undefined && !isReported) await (await report())(home.place, context);
  return published;
}

/** The job as it was given, with `{date}`. */
function withPattern({ job, outputDir }: Pick<Request, 'job' | 'outputDir'>): Job {
  return { ...job, output: { ...job.output, dir: outputDir } };
}

/** A list that is cut short makes an export that looks like any other. */
async function compareWithEarlier(
  { job, outputDir }: Request,
  nights: Nights,
  { outcome, context }: { readonly outcome: ExportOutcome; readonly context: ObservedContext },
): Promise<void> {
  const at = outputDir.indexOf(dateWord);
  const today = job.output.dir.slice(at, at + 'YYYY-MM-DD'.length);
  const message = await nights.shortOfEarlier(withPattern({ job, outputDir }), context, {
    read: outcome.account.counts.read,
    today,
  });
  if (message !== undefined) context.listener({ kind: 'warning', message });
}

/** The record of its runs is put into a bucket only when the export is given up: a report needs it. */
function isLocal({ place }: ExportHome): boolean {
  return !place.store.isShared;
}

/** The account of an export that is complete and has no running process. Reading it takes no lock and writes nothing. */
async function finishedBefore(
  { job, idsFolder, outputDir }: ExportRequest,
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
  requireSame(home.name, manifest, { job: jobShape(job), inputs: [...fingerprints] });
  return alreadyComplete(home.name, manifest);
}

function slowMessage(problem: string): string {
  return `WebAssembly kernel not loaded, so records are read and written several times slower: ${problem}. Install the package again, or use a Node that supports WebAssembly SIMD`;
}

/** A request with what its job needs of wings. */
type ReadyRequest = Request & {
  readonly nights: Nights | undefined;
  readonly report: RunWings['report'];
  readonly publish: AfterComplete['publish'];
};

async function exportLocked(
  { job, idsFolder, outputDir, fresh, nights, report, publish, wings }: ReadyRequest,
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
  const problem = kernelProblem();
  if (problem !== undefined) onNote(slowMessage(problem));
  const sources = { job, idsFolder, outputDir, files, stdin, stop, folder, findRemote, onNote };
  const prepared = await prepareInputs(sources);
  // A process that was stopped meanwhile may have read half of its stdin.
  if (fresh || areKept(job)) context.stop.throwIfAborted();
  // Only now: for inputs or a base that cannot be read nothing is thrown away.
  const anew = fresh ? await nights?.base(job, context, undefined) : undefined;
  if (fresh || (await home.isThrowingAway()))
    await throwAwayFollowed({ job, outputDir }, { ...context, lake: wings.lake }, () =>
      home.throwAway({ inputs: prepared.inputs, stop }),
    );
  const shape = {
    job: jobShape(job),
    inputs: [...prepared.fingerprints],
    startedAtMs,
  };
  const finished = await completeBefore(home, shape, job.tolerance);
  if (finished !== undefined) return finished;
  try {
    const begun = hasBase(job) ? (await home.readProgress())?.start : undefined;
    if (begun !== undefined) requireSame(home.name, begun, shape);
    const base = anew ?? (await nights?.base(job, context, begun));
    const first = firstNight(job, base !== undefined);
    if (first !== undefined) onNote(first);
    const progress = newReadProgress();
    const reading: Reading = { entries: () => readJobIds(job, prepared, progress, listener) };
    const open = await home.open(base === undefined ? shape : { ...shape, base: base.pinned }, () => reading.entries());
    const unfinished = { job, home, prepared, open, progress, reading };
    return await exportUnfinished(unfinished, base, { report, publish }, { ...context, startedAtMs });
  } catch (error) {
    const done = (await completedMeanwhile(home, error)) && (await completeBefore(home, shape, job.tolerance));
    if (done === undefined) throw error;
    return done;
  }
}

/** Who finds that another process works on the export says so, whatever became of it since. */
async function completedMeanwhile(home: ExportHome, error: unknown): Promise<Manifest | undefined> {
  const isHeld = error instanceof ExportError && error.exit === 'locked' && error.why?.kind !== 'startedOver';
  return isHeld ? undefined : completedElsewhere(home, error);
}

/** Makes the parts that are missing, then the manifest. */
async function exportUnfinished(
  unfinished: BasedExport,
  base: ExportBase | undefined,
  { report, publish }: Pick<ReadyRequest, 'report' | 'publish'>,
  context: ObservedContext & { readonly startedAtMs: number },
): Promise<ExportOutcome> {
  const { job, home, prepared, open, progress } = unfinished;
  // A night knows more when it has chosen what it requests.
  if (base === undefined && open.commits().length === 0) {
    const entries = aboutEntriesIn(prepared, job.ids.limit);
    await warnOfDisk(job, { assets: entries, entries }, context);
  }
  const answers = base?.answersFor(unfinished);
  const planned = base === undefined ? await plannedLeft(job, prepared, open, () => home.readAnswers()) : undefined;
  const exported: ExportedSlices = {
    job,
    planned,
    inputs: prepared,
    name: home.name,
    recordFolder: home.scratch,
    open,
    progress,
    answers,
    whenLost: 'end',
    publish,
    completedElsewhere: (error: ExportError) => completedMeanwhile(home, error),
    ...(report !== undefined && isLocal(home) ? { report: async () => (await report())(home.place, context) } : {}),
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
  return exportOpen(exported, context);
}
