import { someIdsOf, type Job } from '../job/job-schema.ts';
import type { InputFingerprint } from '../ids/read/input-bytes.ts';
import type { TakenColumn } from '../ids/read/list-form.ts';
import { thenCleanUp, LinkedAbort } from '../../lib/end-work.ts';
import { ExportError } from '../../lib/export-error.ts';
import { isLostSlice, lostSlice } from '../../places/log/slice-hold.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { creditsLeftOf } from './history/run-figures.ts';
import { noticeTimes } from './history/run-lines.ts';
import type { ReadProgress } from '../work/read-job-ids.ts';
import type { ExportContext } from './export-context.ts';
import { type LocalAnswers, type MadePart, makeParts } from '../work/make-parts.ts';
import type { RunEvent } from '../work/run-events.ts';
import { RunFold } from './history/run-fold.ts';
import { joinedObservers, type RunEnd } from '../work/run-observer.ts';
import { committedCounts } from '../../places/scratch/commit-sums.ts';
import { accountOf, type ExportOutcome, unfinishedAccount } from './complete-export.ts';
import type { ExportHome, HeldSlice, OpenExport } from './homes/export-home.ts';
import { completedElsewhere } from './homes/home-lock.ts';
import { keepsIds, type Spent } from '../../places/export/export-facts.ts';
import { endOf, endOfError, type ObservedContext, beginPlan } from './follow-run.ts';
import { recordRun, type RunRecorder } from './history/record-run.ts';

/** Slices of an export, and what their parts are made of. */
export interface SlicesToMake {
  readonly job: Job;
  readonly inputs: {
    readonly fingerprints: readonly InputFingerprint[];
    readonly inputBytes: number;
    readonly columns: readonly TakenColumn[];
  };
  readonly open: OpenExport;
  readonly progress: ReadProgress;
  /** A slice that another process took over: ends the run, or only what it does for that slice. */
  readonly whenLost: 'end' | 'continue';
  /** What the run begins with, for those who follow it. */
  readonly begun?: Pick<Extract<RunEvent, { kind: 'opened' }>, 'fetched' | 'isResumed' | 'limit'> | undefined;
  /** Calls of its ids, as far as they were counted (`plannedLeft`). */
  readonly planned?: number | undefined;
  /** Share of its ids that were missing before. */
  readonly missingShare?: number | undefined;
  /** Calls at once, as they were found last. */
  readonly learnedCalls?: (() => number | undefined) | undefined;
  /** Answers that lie on this disk: then nothing is sent. */
  readonly local?: LocalAnswers | undefined;
  /** Makes the parts of a slice where no ids are read and nothing is requested. */
  readonly make?: ((slice: HeldSlice) => AsyncIterable<MadePart>) | undefined;
}

/** What lives as long as a run of an export. */
export interface Run {
  readonly job: Job;
  readonly home: ExportHome;
  readonly context: ObservedContext;
  /** Local folder that keeps the history of the runs; that of its home unless given. */
  readonly recordFolder?: string | undefined;
  /** Called when the export is complete, before its record and observers have its end: its readers find it, or the outcome has the error. */
  readonly publish?: (outcome: ExportOutcome) => Promise<ExportOutcome>;
  /** Called when the export is complete and its record written: writes its report, which counts what the tables hold. */
  readonly report?: (() => Promise<RunEnd['quality']>) | undefined;
}

/** What a run has begun or resumed: slices to make, and how the export is completed. */
export interface BegunExport extends Omit<SlicesToMake, 'job' | 'begun' | 'learnedCalls' | 'local'> {
  /** Of an export with a base: what is requested before any part is made. */
  readonly answers?: PreparedAnswers | undefined;
  /** Called when no slice is left: gives the manifest. */
  readonly complete: () => Promise<Manifest>;
  /** Whether another worker completed the export. */
  readonly isElsewhere?: () => boolean;
}

/** Calls and credits of this run. */
export interface SpentNow {
  calls: number;
  credits: number;
}

/** Answers that are there before the parts are made: of a list its pages, of a night what it requests first. */
export interface PreparedAnswers {
  /** Calls at once that the last run of the base found. */
  readonly learnedCalls?: number | undefined;
  /** Of a night: reads the base, chooses, and requests. @param learnedCalls calls at once, as they were found last */
  open(
    spentNow: SpentNow,
    context: ExportContext,
    learnedCalls: () => number | undefined,
  ): Promise<{ readonly local: LocalAnswers; close(): Promise<void> }>;
  /** With those of the parts, over all runs. */
  spent(): Spent;
  /** What the manifest says of the base, when all parts are made. */
  account?(): Pick<Manifest, 'base'>;
  /** What an error means that stopped the export. */
  explained(error: unknown): Promise<unknown>;
}

/** Makes the parts and completes the export, lets others follow the run, turns what stops it into its outcome, and closes the export. */
export async function makeAndComplete(run: Run, begun: BegunExport): Promise<ExportOutcome> {
  return thenCleanUp({
    work: () => followed(run, begun),
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [() => begun.open.close()],
  });
}

async function followed(run: Run, begun: BegunExport): Promise<ExportOutcome> {
  const { job, home, context } = run;
  const { open, inputs, progress } = begun;
  const counts = committedCounts(open.commits());
  const learnedCalls = begun.answers?.learnedCalls;
  const recorder = await recordRun({ ...context, folder: run.recordFolder ?? home.scratch, job, counts, learnedCalls });
  const fold = new RunFold(recorder.fetched);
  for (const listener of [recorder.listener, fold.add]) context.addListener(listener);
  context.notices.keepIn({
    read: async () => noticeTimes([...recorder.earlier, ...((await open.records?.()) ?? [])]),
    write: (untilMs) => recorder.told(untilMs),
  });
  try {
    const ended = await outcomeOf(run, begun, { recorder, fold });
    const creditsLeft = creditsLeftOf(job.budget, { today: await recorder.settle() }) ?? null;
    const outcome = { ...ended, account: { ...ended.account, creditsLeft } };
    const entries = inputs.fingerprints.map(({ name }, source) => ({ name, entries: progress.entriesOf[source] ?? 0 }));
    const isElsewhere = outcome.state === 'complete' && begun.isElsewhere?.() === true;
    const published = (await run.publish?.(outcome)) ?? outcome;
    const end = { ...endOf(published, job, entries), isElsewhere };
    await recorder.end(end);
    const isReported = outcome.state === 'complete' && !isElsewhere && !home.place.store.isShared;
    await context.observer.end({ ...end, quality: isReported ? await run.report?.() : undefined });
    return published;
  } catch (error) {
    await joinedObservers([recorder, context.observer]).end(endOfError(error));
    throw error;
  }
}

async function outcomeOf(
  { job, home, context }: Run,
  begun: BegunExport,
  { recorder, fold }: { readonly recorder: RunRecorder; readonly fold: RunFold },
): Promise<ExportOutcome> {
  const { open, inputs, progress, answers } = begun;
  const { clock, beganMs } = context;
  const { name } = home;
  const spentNow = { calls: 0, credits: 0 };
  const runFacts = () => ({
    callsOfRun: spentNow.calls,
    creditsOfRun: spentNow.credits,
    elapsedMs: clock.monotonic() - beganMs,
    columns: inputs.columns,
    invalidSamples: progress.invalid,
  });
  const { fetched, earlier } = recorder;
  const isResumed = !open.isNew || earlier.length > 0 || open.answers > 0 || open.commits().length > 0;
  const slices = {
    ...begun,
    job,
    begun: { fetched, isResumed, limit: job.ids.limit },
    learnedCalls: () => fold.work.callsAtOnce ?? recorder.learnedCalls,
  };
  try {
    const opened = await answers?.open(spentNow, context, slices.learnedCalls);
    await thenCleanUp({
      work: () => exportSlices({ ...slices, local: opened?.local }, spentNow, context),
      cleanUp: [async () => opened?.close()],
    });
    return { state: 'complete', account: accountOf(name, await begun.complete()), ...runFacts() };
  } catch (cause) {
    const error = answers === undefined ? cause : await answers.explained(cause);
    if (!(error instanceof ExportError)) throw error;
    const manifest = await completedElsewhere(home, error, begun.whenLost);
    if (manifest !== undefined) return { state: 'complete', account: accountOf(name, manifest), ...runFacts() };
    const account = unfinishedAccount({
      folder: name,
      commits: open.commits(),
      read: progress.entries,
      fetched: fold.fetched(),
      limit: someIdsOf(job.ids),
      ...(answers?.spent() ?? open.spent()),
    });
    return { state: 'unfinished', account, ...runFacts(), error };
  }
}

/** Takes slices until none is left, makes the parts that are not committed yet, and commits each. */
export async function exportSlices(given: SlicesToMake, spentNow: SpentNow, context: ExportContext): Promise<void> {
  const { inputs, open, whenLost } = given;
  const output = { ...given.job.output, keepIds: keepsIds(open.start.job) };
  const exported = { ...given, job: { ...given.job, output } };
  const commits = open.commits();
  if (exported.local === undefined && exported.make === undefined) beginPlan(context, exported.job, exported.planned);
  context.listener({
    kind: 'opened',
    inputBytes: inputs.inputBytes,
    parts: commits.length,
    answers: open.answers,
    ...exported.begun,
    counts: committedCounts(commits),
    columns: inputs.columns,
    inputs: inputs.fingerprints.map(({ name, bytes }) => ({ name, bytes })),
  });
  for (let hasAnswered = false; ; hasAnswered = true) {
    const slice = await open.slices.next(context.stop);
    if (slice === undefined) return;
    const { calls, credits } = slice;
    const before = { calls: calls.total(), credits: credits.total() };
    const budget = budgetLeft(exported.job, spentNow.credits);
    await thenCleanUp({
      work: () =>
        exportSlice(
          slice,
          { ...exported, job: { ...exported.job, budget } },
          { ...heardBy(slice, context), hasAnswered },
        ),
      cleanUp: [
        async () => {
          spentNow.calls += calls.total() - before.calls;
          spentNow.credits += credits.total() - before.credits;
        },
        (done) => slice.end(done === undefined ? 'release' : 'done'),
      ],
    }).catch((error: unknown) => {
      if (whenLost === 'end' || !isLostSlice(error)) throw error;
    });
  }
}

function heardBy({ onAnswered }: HeldSlice, context: ExportContext): ExportContext {
  if (onAnswered === undefined) return context;
  const listener: ExportContext['listener'] = (event) => {
    if (event.kind === 'answered' || event.kind === 'replayed') onAnswered(event.ids);
    context.listener(event);
  };
  return { ...context, listener };
}

/** Each slice has a client of its own: the credits of a run are those of all its slices. */
function budgetLeft({ budget }: Job, spent: number): Job['budget'] {
  if (budget.creditsPerRun === undefined) return budget;
  return { ...budget, creditsPerRun: Math.max(0, budget.creditsPerRun - spent) };
}

/** Makes the next part while one is committed: a bucket takes its time for a part's files. */
async function exportSlice(slice: HeldSlice, exported: SlicesToMake, context: ExportContext): Promise<'done'> {
  const { job, inputs, open, local, make } = exported;
  const halt = new LinkedAbort(context.stop);
  const made =
    make?.(slice) ??
    makeParts(
      {
        job,
        parts: slice,
        sources: inputs.fingerprints.map(({ name }) => name),
        begun: open.start,
        initialCap: open.commits().at(-1)?.cap,
        missingShare: exported.missingShare,
        learnedCalls: exported.learnedCalls?.(),
        local,
      },
      { ...context, stop: halt.signal },
    );
  const commit = committer(slice, exported, context);
  let committing = Promise.resolve();
  const failures: unknown[] = [];
  try {
    for await (const part of made) {
      await committing;
      committing = commit(part);
      committing.catch((error: unknown) => {
        failures.push(error);
        halt.abort(error);
      });
    }
    await committing;
    return 'done';
  } catch (error) {
    failures.push(error);
    await Promise.allSettled([committing]);
    throw failures[0];
  } finally {
    halt.unlink();
  }
}

function committer(slice: HeldSlice, { open, progress }: SlicesToMake, { listener }: ExportContext) {
  let covered = committedCounts(open.commits()).read;
  return async ({ part, cap }: MadePart): Promise<void> => {
    covered += part.counts.read;
    const commit = {
      ...part,
      // Reading runs ahead of commits: estimate the part's share of the bytes that were read.
      inputBytes: Math.round(progress.inputBytes * (covered / Math.max(1, progress.entries))),
      ...(cap === undefined ? {} : { cap }),
    };
    if ((await slice.commit(commit)) === 'lost') throw lostSlice();
    listener({ kind: 'committed', commit });
  };
}
