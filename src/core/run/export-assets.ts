import { serviceAddress } from '../client/wire/service-address.ts';
import { jobOn, type Job } from '../job/job-schema.ts';
import { dateWord, firstNight, hasBase } from '../job/night-names.ts';
import { kernelProblem } from '../../lib/kernel/kernel.ts';
import { utcDay } from '../../lib/clock.ts';
import {
  aboutEntriesIn,
  areKept,
  type InputSources,
  prepareInputs,
  type PreparedInputs,
} from '../ids/prepare-inputs.ts';
import { readJobIds, newReadProgress } from '../work/read-job-ids.ts';
import type { ExportStart } from '../../places/export/export-facts.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportContext } from './export-context.ts';
import { plannedLeft } from './calls-left.ts';
import { manifestOf, alreadyComplete, type ExportOutcome } from './complete-export.ts';
import { warnOfDisk, requireRunnable } from './disk-estimate.ts';
import { type BegunExport, makeAndComplete, type Run } from './export-slices.ts';
import { completeBefore, withLockedHome, completedElsewhere } from './homes/home-lock.ts';
import { openHome, bucketIds } from './homes/open-home.ts';
import { jobShape, requireSame } from './job-shape.ts';
import { type ObservedContext, followRun } from './follow-run.ts';
import {
  reportFor,
  type RunWings,
  type AfterComplete,
  afterComplete,
  type ExportBase,
  type Nights,
  nightsFor,
  type Reading,
  type FollowedNight,
  followerFor,
  requireFollowable,
  throwAwayFollowed,
} from './nights.ts';
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

/** A run of a request: its home is open, and so is what its job needs of wings. */
interface ExportRun extends Run, FollowedNight, Pick<ExportRequest, 'idsFolder' | 'fresh'>, AfterComplete {
  readonly nights: Nights | undefined;
  readonly publish: AfterComplete['publish'];
  readonly lake: RunWings['lake'];
}

/**
 * Starts an export, or continues it: the same request either way.
 *
 * An error that stops a run is part of the outcome, so that the account can be reported with it.
 * @throws {ExportError} when the export cannot be opened: `usage`, `input`, `locked`, `damaged`, `cannotWrite`
 */
export async function exportAssets(request: ExportRequest, context: ExportContext & RunWings): Promise<ExportOutcome> {
  const startedAtMs = context.clock.now();
  const outputDir = request.outputDir ?? request.job.output.dir;
  const job = jobOn(request.job, utcDay(startedAtMs));
  return followRun({ ...context, job, startedAtMs }, async (observed) => {
    const run = await openRun({ ...request, job, outputDir }, observed, context);
    const finished = run.fresh ? undefined : await finishedBefore(run);
    return followUp(run, finished ?? (await withLockedHome(run.home, run.context, () => exportHeld(run))));
  });
}

/** Opens the home and the wings. What they and the client refuse is known before anything is written. */
async function openRun(
  request: ExportRequest & FollowedNight,
  context: ObservedContext,
  wings: RunWings,
): Promise<ExportRun> {
  const { job, outputDir, idsFolder, fresh } = request;
  const home = await openHome(job, context);
  await home.requireOwn();
  serviceAddress(context.service);
  requireRunnable(job, request.isRest);
  const nights = await nightsFor(withPattern(request), wings.nights);
  const report = reportFor(job, wings);
  const following = { ...context, lake: followerFor(withPattern(request), wings) };
  await nights?.requireLatestFree(job, context);
  await requireFollowable({ job, outputDir }, following);
  return {
    job,
    outputDir,
    idsFolder,
    fresh,
    home,
    context,
    nights,
    lake: wings.lake,
    report: report && (async () => (await report())(home.place, context)),
    ...afterComplete(nights, { job, outputDir, place: home.place }, following),
  };
}

/** The account of an export that is complete and has no running process. Reading it takes no lock and writes nothing. */
async function finishedBefore(run: ExportRun): Promise<ExportOutcome | undefined> {
  const { job, home } = run;
  // Ids from stdin or a bucket have to be kept to be compared, which needs the lock.
  if (areKept(job)) return undefined;
  const manifest = await home.readIdle();
  // One that is set aside may be judged anew, which changes its manifest.
  if (manifest === undefined || manifest.setAside !== undefined) return undefined;
  const { fingerprints } = await prepareInputs(sourcesOf(run));
  requireSame(home.name, manifest, { job: jobShape(job), inputs: [...fingerprints] });
  return alreadyComplete(home.name, manifest);
}

/** Begins or resumes the export, makes the parts that are missing, and completes it. */
async function exportHeld(run: ExportRun): Promise<ExportOutcome> {
  const { job, home, context } = run;
  const startedAtMs = context.clock.now();
  const inputs = await readInputs(run);
  // Only now: for inputs or a base that cannot be read nothing is thrown away.
  const base = run.fresh ? await run.nights?.base(job, context, undefined) : undefined;
  if (run.fresh || (await home.isThrowingAway()))
    await throwAwayFollowed(run, { ...context, lake: run.lake }, () =>
      home.throwAway({ inputs: inputs.inputs, stop: context.stop }),
    );
  const start = { job: jobShape(job), inputs: [...inputs.fingerprints], startedAtMs };
  const finished = await completeBefore(home, start, job.tolerance);
  if (finished !== undefined) return finished;
  try {
    return await makeAndComplete(run, await begin(run, { inputs, start, base }));
  } catch (error) {
    const done = (await completedElsewhere(home, error, 'end')) && (await completeBefore(home, start, job.tolerance));
    if (done === undefined) throw error;
    return done;
  }
}

function sourcesOf({ job, idsFolder, outputDir, home, context }: ExportRun): InputSources {
  const { files, stdin } = context;
  return { job, idsFolder, outputDir, files, stdin, folder: home.scratch };
}

async function readInputs(run: ExportRun): Promise<PreparedInputs> {
  const { job, context } = run;
  const { stop } = context;
  const onNote = (message: string): void => {
    context.listener({ kind: 'warning', message });
  };
  const problem = kernelProblem();
  if (problem !== undefined) onNote(slowMessage(problem));
  const inputs = await prepareInputs({ ...sourcesOf(run), stop, findRemote: bucketIds(job, context), onNote });
  // A process that was stopped meanwhile may have read half of its stdin.
  if (run.fresh || areKept(job)) stop.throwIfAborted();
  return inputs;
}

function slowMessage(problem: string): string {
  return `WebAssembly kernel not loaded, so records are read and written several times slower: ${problem}. Install the package again, or use a Node that supports WebAssembly SIMD`;
}

/** Opens the export where it stands, or begins it. */
async function begin(
  { job, home, nights, context }: ExportRun,
  {
    inputs,
    start,
    base: newBase,
  }: { readonly inputs: PreparedInputs; readonly start: ExportStart; readonly base: ExportBase | undefined },
): Promise<BegunExport> {
  const { listener, version } = context;
  const earlier = hasBase(job) ? (await home.readProgress())?.start : undefined;
  if (earlier !== undefined) requireSame(home.name, earlier, start);
  const base = newBase ?? (await nights?.base(job, context, earlier));
  const first = firstNight(job, base !== undefined);
  if (first !== undefined) listener({ kind: 'warning', message: first });
  const progress = newReadProgress();
  const reading: Reading = { entries: () => readJobIds(job, inputs, progress, listener) };
  const open = await home.open(base === undefined ? start : { ...start, base: base.pinned }, () => reading.entries());
  const answers = base?.answersFor({ job, home, inputs, open, progress, reading });
  const complete = (): Promise<Manifest> => {
    const spent = answers?.spent() ?? open.spent();
    const account = answers?.account?.() ?? {};
    const isSetAside = job.ids.limit === undefined && isOverUnlisted(account.base, job.tolerance);
    const done = { job, start: open.start, commits: open.commits(), ...spent, version, ...account };
    return home.putManifest(manifestOf(isSetAside ? { ...done, setAside: 'unlisted' } : done));
  };
  const begun = { inputs, open, progress, answers, whenLost: 'end', complete } as const;
  // A night knows more when it has chosen what it requests.
  if (base !== undefined) return begun;
  const entries = aboutEntriesIn(inputs, job.ids.limit);
  if (open.commits().length === 0) await warnOfDisk(job, { assets: entries, entries }, context);
  return { ...begun, planned: await plannedLeft(job, inputs, open, () => home.readAnswers()) };
}

/** What follows a run that ended. One that ends before this is followed by one that finds the export complete. */
async function followUp(run: ExportRun, outcome: ExportOutcome): Promise<ExportOutcome> {
  const { state } = outcome;
  if (state === 'complete') await compareWithEarlier(run, outcome);
  const published = state === 'already' ? await run.publish(outcome) : outcome;
  await run.keep(published);
  // The history of its runs is put into a bucket only when the export is given up: a report needs it.
  if (state === 'unfinished' || (state === 'complete' && run.home.place.store.isShared)) await run.report?.();
  return published;
}

/** A list that is cut short makes an export that looks like any other. */
async function compareWithEarlier(
  { job, outputDir, nights, context }: ExportRun,
  { account }: ExportOutcome,
): Promise<void> {
  const at = outputDir.indexOf(dateWord);
  const today = job.output.dir.slice(at, at + 'YYYY-MM-DD'.length);
  const now = { read: account.counts.read, today };
  const message = await nights?.shortOfEarlier(withPattern({ job, outputDir }), context, now);
  if (message !== undefined) context.listener({ kind: 'warning', message });
}

/** The job as it was given, with `{date}`. */
function withPattern({ job, outputDir }: FollowedNight): Job {
  return { ...job, output: { ...job.output, dir: outputDir } };
}
