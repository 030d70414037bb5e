import { serviceAddress } from '../client/wire/service-address.ts';
import { requireDayForACall } from '../client/policies/with-budget.ts';
import { hasBase, noBase } from '../job/job-base.ts';
import type { Job } from '../job/job-schema.ts';
import { lostSlice } from '../slices/lost-slice.ts';
import { thenCleanUp } from '../lib/clean-up.ts';
import { utcDay } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import { ExportError, messageOf } from '../lib/export-error.ts';
import { uuidV7 } from '../lib/uuid-v7.ts';
import { type CustomSink, requireDistinctSinks } from '../formats/custom-sink.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { Manifest } from '../store/manifest.ts';
import { manifestOf } from './complete-export.ts';
import type { ExportContext } from '../work/export-context.ts';
import { accountOf, committedCounts, type ExportOutcome, unfinishedAccount } from './export-outcome.ts';
import { jobShape, requireSame } from './job-shape.ts';
import type { ExportHome, HeldSlice, OpenExport } from './homes/export-home.ts';
import { openHome } from './homes/open-home.ts';
import { type PreparedInputs, prepareInputs } from '../ids/prepare-inputs.ts';
import { countedEntries, newReadProgress, type ReadProgress } from '../work/count-entries.ts';
import { jobOn } from './dated-exports.ts';
import { pointLatest, requireLatestFree } from './nights/point-latest.ts';
import { makeParts } from '../work/make-parts.ts';
import { recordRun } from './record-run.ts';
import type { RunListener } from '../work/run-events.ts';
import {
  endedOnce,
  joinedObservers,
  noObserver,
  type RunAccount,
  type RunEnd,
  type RunObserver,
} from '../work/run-observer.ts';
import { intolerable } from './tolerance.ts';

export interface ExportRequest {
  readonly job: Job;
  /** Folder at which relative patterns of `ids.from` start. */
  readonly idsFolder: string;
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
  const request = { ...given, job: jobOn(given.job, utcDay(startedAtMs)) };
  const { job } = request;
  const run = context.run ?? uuidV7(startedAtMs);
  const opened = await context.observe?.({ ...context, job, run, startedAtMs });
  const observer = endedOnce(opened ?? noObserver);
  try {
    const outcome = await exportHome(request, observed(context, run, observer));
    await observer.end(endOf(outcome, job));
    return outcome;
  } catch (error) {
    await observer.end(endOfError(error));
    throw error;
  }
}

/** A run, and what follows it. */
interface ObservedContext extends ExportContext {
  readonly run: string;
  readonly observer: RunObserver;
  /** Has all events from now on go to another too. */
  readonly addListener: (listener: RunListener) => void;
}

function observed(context: ExportContext, run: string, observer: RunObserver): ObservedContext {
  const listeners = [observer.listener, context.listener];
  const listener: RunListener = (event) => {
    for (const each of listeners) each(event);
  };
  return { ...context, run, observer, listener, addListener: (added) => listeners.unshift(added) };
}

async function exportHome(request: ExportRequest, context: ObservedContext): Promise<ExportOutcome> {
  const { files } = context;
  requireDistinctSinks(request.sinks ?? []);
  if (hasBase(request.job) && request.job.base.from !== noBase) {
    throw new ExportError('usage', 'an export cannot be based on another one yet', { todo: 'Use --base none.' });
  }
  const home = await openHome(request.job, context);
  await home.requireOwn();
  // What the client refuses is known before anything is written.
  serviceAddress(context.service);
  requireDayForACall(request.job.budget);
  await requireLatestFree(request.job, context);
  const finished = request.fresh ? undefined : await finishedBefore(request, home, context);
  if (finished !== undefined) {
    await pointLatest(request.job, context);
    return finished;
  }
  await files.makeFolder(pathIn(home.scratch, exportPaths.run));
  const lock = await files.takeLock(home.scratch);
  const outcome = await thenCleanUp({
    work: () => exportLocked(request, home, context),
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [
      (outcome) => {
        const ended = outcome?.state === 'already' ? 'complete' : outcome?.state;
        return home.clear(ended ?? 'refused', lock);
      },
      () => lock.release(),
    ],
  });
  // A run that ends before this is followed by one that finds the export complete.
  if (outcome.state !== 'unfinished') await pointLatest(request.job, context);
  if (request.job.output.report && outcome.state !== 'already') await reportRun(home, context);
  return outcome;
}

/** Writes the report of a run that ended. A report that fails changes no outcome. */
async function reportRun(
  { place }: ExportHome,
  { clock, version, stop, abort, listener }: ExportContext,
): Promise<void> {
  if (abort.aborted) return;
  try {
    const { reportExport } = await import('./report-export.ts');
    // Who interrupted the run does not wait for a profile of all rows.
    await reportExport({ place, nowMs: clock.now(), version, extent: stop.aborted ? 'none' : undefined });
  } catch (error) {
    listener({ kind: 'warning', message: `no report: ${messageOf(error)}` });
  }
}

/** The account of an export that is complete and has no running process. Reading it takes no lock and writes nothing. */
async function finishedBefore(
  { job, idsFolder, sinks }: ExportRequest,
  home: ExportHome,
  context: ExportContext,
): Promise<ExportOutcome | undefined> {
  const { files, stdin } = context;
  // Ids from stdin have to be kept to be compared, which needs the lock.
  if (job.ids.from.includes('-')) return undefined;
  const manifest = await home.readIdle();
  if (manifest === undefined) return undefined;
  const { fingerprints } = await prepareInputs({ job, idsFolder, files, stdin, folder: home.scratch });
  requireSame(home.name, manifest, { job: jobShape(job, sinks), inputs: [...fingerprints] });
  return alreadyComplete(home.name, manifest);
}

function alreadyComplete(folder: string, manifest: Manifest): ExportOutcome {
  return {
    ...{ state: 'already', account: accountOf(folder, manifest), callsOfRun: 0, creditsOfRun: 0, elapsedMs: 0 },
    ...{ columns: [], invalidSamples: [] },
  };
}

async function exportLocked(
  { job, idsFolder, fresh, sinks = [] }: ExportRequest,
  home: ExportHome,
  context: ObservedContext,
): Promise<ExportOutcome> {
  const { files, clock, listener } = context;
  const startedAtMs = clock.now();
  const folder = home.scratch;
  const prepared = await prepareInputs({ job, idsFolder, files, stdin: context.stdin, stop: context.stop, folder });
  // A process that was stopped meanwhile may have read half of its stdin.
  if (fresh || job.ids.from.includes('-')) context.stop.throwIfAborted();
  // Only now: for inputs that cannot be read nothing is thrown away.
  if (fresh || (await home.isThrowingAway())) await home.throwAway({ inputs: prepared.inputs, sinks });
  const start = { job: jobShape(job, sinks), inputs: [...prepared.fingerprints], startedAtMs };
  const finished = await home.readManifest();
  if (finished !== undefined) {
    requireSame(home.name, finished, start);
    // The run that gave it its name may have been stopped before that was safe; after this the checkpoint goes.
    await home.syncManifest();
    return alreadyComplete(home.name, finished);
  }
  const progress = newReadProgress();
  const open = await home.open(start, () => countedEntries(job, prepared, { progress, listener }));
  return thenCleanUp({
    work: () => exportOpen({ job, sinks, prepared, home, open, progress }, context, startedAtMs),
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [() => open.close()],
  });
}

/** Exports, lets others follow the run, and turns what stops it into its outcome. */
async function exportOpen(
  exported: ExportedSlices,
  context: ObservedContext,
  startedAtMs: number,
): Promise<ExportOutcome> {
  const { job, open, home, prepared, progress } = exported;
  const counts = committedCounts(open.commits());
  const recorder = await recordRun({ ...context, folder: home.scratch, job, counts });
  const observer = joinedObservers([recorder, context.observer]);
  context.addListener(recorder.listener);
  try {
    const outcome = await outcomeOf(exported, context, startedAtMs);
    const inputs = prepared.inputs.map(({ name }, source) => ({ name, entries: progress.entriesOf[source] ?? 0 }));
    await observer.end(endOf(outcome, job, inputs));
    return outcome;
  } catch (error) {
    await observer.end(endOfError(error));
    throw error;
  }
}

function endOf(outcome: ExportOutcome, job: Job, inputs: RunAccount['inputs'] = []): RunEnd {
  const { account, callsOfRun: calls, creditsOfRun: credits, state } = outcome;
  const error =
    outcome.error ?? (state === 'complete' ? intolerable(account, job.tolerance, job.output.onDrift) : undefined);
  return {
    state: state === 'unfinished' ? 'stopped' : 'complete',
    exit: error?.exitCode ?? exitCodes.complete.code,
    ...{ error: error?.message, todo: error?.todo },
    account: { ...account, inputs, calls, credits },
  };
}

function endOfError(error: unknown): RunEnd {
  const known = error instanceof ExportError ? error : undefined;
  const exit = known?.exitCode ?? exitCodes.bug.code;
  return { state: 'stopped', exit, error: messageOf(error), todo: known?.todo };
}

async function outcomeOf(
  exported: ExportedSlices,
  context: ExportContext,
  startedAtMs: number,
): Promise<ExportOutcome> {
  const { job, home, open, prepared, progress } = exported;
  const { clock, version } = context;
  const spentNow = { calls: 0, credits: 0 };
  const runFacts = () => ({
    callsOfRun: spentNow.calls,
    creditsOfRun: spentNow.credits,
    elapsedMs: clock.now() - startedAtMs,
    columns: prepared.columns,
    invalidSamples: progress.invalid,
  });
  try {
    await exportSlices(exported, spentNow, context);
    const { start } = open;
    const done = manifestOf({ job, start, commits: open.commits(), ...open.spent(), version });
    const manifest = await home.putManifest(done);
    return { state: 'complete', account: accountOf(home.name, manifest), ...runFacts() };
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    const commits = open.commits();
    const account = unfinishedAccount({ folder: home.name, commits, read: progress.entries, ...open.spent() });
    return { state: 'unfinished', account, ...runFacts(), error };
  }
}

interface ExportedSlices {
  readonly job: Job;
  readonly sinks: readonly CustomSink[];
  readonly prepared: PreparedInputs;
  readonly home: ExportHome;
  readonly open: OpenExport;
  readonly progress: ReadProgress;
}

/** Takes slices until none is left, makes the parts that are not committed yet, and commits each. */
async function exportSlices(
  exported: ExportedSlices,
  spentNow: { calls: number; credits: number },
  context: ExportContext,
): Promise<void> {
  const { prepared, open } = exported;
  const commits = open.commits();
  context.listener({
    kind: 'opened',
    inputBytes: prepared.inputBytes,
    parts: commits.length,
    answers: open.answers,
    counts: committedCounts(commits),
    columns: prepared.columns,
    inputs: prepared.fingerprints.map(({ name, bytes }) => ({ name, bytes })),
  });
  for (;;) {
    const slice = await open.slices.next(context.stop);
    if (slice === undefined) return;
    const { calls, credits } = slice;
    const before = { calls: calls.total(), credits: credits.total() };
    const budget = budgetLeft(exported.job, spentNow.credits);
    await thenCleanUp({
      work: () => exportSlice(slice, { ...exported, job: { ...exported.job, budget } }, context),
      cleanUp: [
        async () => {
          spentNow.calls += calls.total() - before.calls;
          spentNow.credits += credits.total() - before.credits;
        },
        (done) => slice.end(done === undefined ? 'release' : 'done'),
      ],
    });
  }
}

/** Each slice has a client of its own: the credits of a run are those of all its slices. */
function budgetLeft({ budget }: Job, spent: number): Job['budget'] {
  if (budget.creditsPerRun === undefined) return budget;
  return { ...budget, creditsPerRun: Math.max(0, budget.creditsPerRun - spent) };
}

async function exportSlice(
  slice: HeldSlice,
  { job, sinks, prepared, open, progress }: ExportedSlices,
  context: ExportContext,
): Promise<'done'> {
  const made = makeParts(
    {
      ...{ job, sinks, parts: slice },
      sources: prepared.inputs.map(({ name }) => name),
      startedAtMs: open.start.startedAtMs,
      initialCap: open.commits().at(-1)?.cap,
    },
    context,
  );
  let covered = committedCounts(open.commits()).read;
  for await (const { part, cap } of made) {
    covered += part.counts.read;
    const commit = {
      ...part,
      // Reading runs ahead of commits: estimate the part's share of the bytes that were read.
      inputBytes: Math.round(progress.inputBytes * (covered / Math.max(1, progress.entries))),
      ...(cap === undefined ? {} : { cap }),
    };
    if ((await slice.commit(commit)) === 'lost') throw lostSlice();
    context.listener({ kind: 'committed', commit });
  }
  return 'done';
}
