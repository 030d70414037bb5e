import { serviceAddress } from '../../core/client/wire/service-address.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { thenCleanUp } from '../../lib/end-work.ts';
import { ExportError } from '../../lib/export-error.ts';
import { probeStore } from '../../places/objects/open-objects.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { newReadProgress } from '../../core/work/read-job-ids.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { reportFor, type RunWings, requireFollowable, afterComplete, nightsFor } from '../../core/run/nights.ts';
import { warnOfDisk, requireRunnable } from '../../core/run/disk-estimate.ts';
import { alreadyComplete, type ExportOutcome, manifestOf } from '../../core/run/complete-export.ts';
import { makeAndComplete, type Run } from '../../core/run/export-slices.ts';
import { homeAt, clearComplete, openHomePlace } from '../../core/run/homes/open-home.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { putHistory, readRunHistories } from '../../core/run/homes/shared-history.ts';
import { CurrentStart, type HomeStart, type EnqueuedSlice, readStart } from '../../core/run/homes/home-start.ts';
import type { SliceSource } from '../../core/run/homes/export-home.ts';
import { fleetShape, jobAsBegun, jobShape, requireSame } from '../../core/run/job-shape.ts';
import { recordVerdict } from '../../core/run/record-verdict.ts';
import { type ObservedContext, followRun } from '../../core/run/follow-run.ts';
import { completedElsewhere } from '../../core/run/homes/home-lock.ts';
import { requireFleetHome } from './fleet-home.ts';
import { FleetSlices } from './fleet-slices.ts';
import { asksAlone } from '../../core/job/job-dialect.ts';
import { Brake } from '../../core/client/policies/brake.ts';
import { fixedOverrun, overrunOf, overrunOfWorker, type SharedPace } from '../../core/client/policies/shared-pace.ts';
import { sha256 } from '../../lib/hash/sha256.ts';
import { plural } from '../../lib/format-text.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { commitsOf, type SliceLog, spentOf, readLogs } from '../../places/log/slice-log.ts';

export interface WorkRequest {
  readonly job: Job;
  /** Hands out the slices that this worker makes. */
  readonly source: (slices: FleetSlices) => SliceSource;
  /** Names this worker in metrics. */
  readonly worker: string;
  /** How many workers make the export, if they share no database (default: 1). */
  readonly workers?: number;
}

/**
 * Makes slices of an export that was enqueued until every slice is done. Who finishes the last one completes the export.
 * @throws {ExportError} when the export cannot be opened: `usage`, `input` before `enqueue`, `cannotWrite`
 */
export async function workOnExport(request: WorkRequest, context: ExportContext & RunWings): Promise<ExportOutcome> {
  const { job } = request;
  requireFleetHome(job, 'work');
  requireNoRunBudget(job);
  const startedAtMs = context.clock.now();
  const nights = await nightsFor(job, context.nights);
  const report = reportFor(job, context);
  await nights?.requireLatestFree(job, context);
  await requireFollowable({ job, outputDir: job.output.dir }, context);
  return followRun({ ...context, job, startedAtMs, worker: request.worker }, async (observed) => {
    const place = await openHomePlace(job, observed);
    const home = homeAt(place);
    const after = afterComplete(nights, { job, outputDir: job.output.dir, place: home.place }, context);
    const run = { job, home, context: observed, publish: after.publish, place, request, reportWhole: report };
    const outcome = await workOn(run);
    const published = outcome.state === 'already' ? await after.publish(outcome) : outcome;
    await after.keep(published);
    return published;
  });
}

function requireNoRunBudget({ budget }: Job): void {
  if (budget.creditsPerRun === undefined) return;
  throw new ExportError('usage', 'work does not support budget.creditsPerRun: it limits one process, not all workers', {
    todo: 'Remove it (--credits-per-run), and limit the fleet with budget.creditsPerDay.',
  });
}

/** A run of one worker. */
interface WorkRun extends Run {
  readonly request: WorkRequest;
  readonly place: HomePlace;
  /** Writes the report of the export, where this worker completes it. */
  readonly reportWhole: RunWings['report'];
}

async function workOn(run: WorkRun): Promise<ExportOutcome> {
  const { job, home, context, place } = run;
  // What the client refuses is known before anything is written.
  serviceAddress(context.service);
  requireRunnable(job);
  const finished = await home.readManifest();
  if (finished !== undefined) return sameComplete(place.address, finished, job);
  try {
    return await workOnUnfinished(run);
  } catch (error) {
    const manifest = await completedElsewhere(home, error, 'continue');
    if (manifest === undefined) throw error;
    return sameComplete(place.address, manifest, job);
  }
}

async function workOnUnfinished(run: WorkRun): Promise<ExportOutcome> {
  const { job, context, place, request } = run;
  const { files } = context;
  const start = await requireEnqueued(place);
  requireSame(place.address, start, { job: fleetShape(job), inputs: start.inputs });
  const { canReplace } = await probeStore(place.store, place.address);
  const assets = start.slices.reduce((sum, { valid }) => sum + valid, 0);
  await warnOfDisk(job, { assets, entries: start.entries }, context);
  const recordFolder = pathIn(place.scratch, `worker-${crypto.randomUUID()}`);
  await files.makeFolder(pathIn(recordFolder, exportPaths.run));
  const whole = { place: { ...place, recordFolder }, job, start, version: context.version };
  const brake = fleetBrake({ job, address: place.address, start, workers: request.workers ?? 1, pace: context.pace });
  const end = async (): Promise<void> => {
    if (context.pace !== undefined) brake.end(context.pace);
    await files.remove(recordFolder);
  };
  return thenCleanUp({
    work: () => makeSlices({ ...run, recordFolder, context: { ...context, brake } }, whole, canReplace),
    hasFailed: ({ error }) => error !== undefined,
    cleanUp: [end],
  });
}

function sameComplete(address: string, manifest: Manifest, job: Job): ExportOutcome {
  requireSame(address, manifest, { job: jobShape(job), inputs: manifest.inputs });
  return alreadyComplete(address, manifest);
}

/** Makes slices until none is left, then completes the export or waits for who does. */
async function makeSlices(run: WorkRun, whole: WholeExport, canReplace: boolean): Promise<ExportOutcome> {
  const { job, home, context, request, reportWhole } = run;
  const { place, start } = whole;
  const current = new CurrentStart(place, start);
  const slices = new FleetSlices(
    { ...place, canReplace, requireCurrent: () => current.require() },
    start.slices,
    start.inputs.map(({ name }) => name),
  );
  const inputBytes = start.inputs.reduce((sum, { bytes }) => sum + bytes, 0);
  let isElsewhere = true;
  const outcome = await makeAndComplete(run, {
    whenLost: 'continue',
    inputs: { fingerprints: start.inputs, inputBytes, columns: [] },
    progress: { ...newReadProgress(), entries: start.entries, inputBytes },
    open: {
      start,
      isNew: true,
      answers: 0,
      slices: announcing(request.source(slices), { entries: start.entries, inputBytes }, context),
      commits: () => slices.commits(),
      spent: () => slices.spent(),
      records: () => readRunHistories(place),
      close: () => slices.close(),
    },
    complete: () =>
      finish(whole, slices, context, () => {
        isElsewhere = false;
      }),
    // Several workers may find all slices done. The one that puts the manifest sends the notifications.
    isElsewhere: () => isElsewhere,
  });
  if (outcome.state !== 'complete') await putHistory(place).catch(() => undefined);
  // Whoever waited finds the work of another worker.
  else if (!slices.hasWaited) {
    await clearComplete(place, (message) => {
      context.listener({ kind: 'warning', message });
    });
    // A worker that started later may have ended otherwise.
    await recordVerdict({ place: home.place, job }, outcome, context);
    if (reportWhole !== undefined) await (await reportWhole())(home.place, context);
  }
  return outcome;
}

/** The ids were read before this worker began: its progress knows how many there are. */
function announcing(
  source: SliceSource,
  read: { readonly entries: number; readonly inputBytes: number },
  { listener }: ObservedContext,
): SliceSource {
  let isTold = false;
  return {
    next: (stop) => {
      if (!isTold) listener({ kind: 'read', ...read });
      isTold = true;
      return source.next(stop);
    },
  };
}

/** How often the manifest of another worker is looked for while that may put it. */
const looks = 12;

/** Completes the export, unless another worker does: the one that finished the last slice. */
async function finish(
  whole: WholeExport,
  slices: FleetSlices,
  { clock, stop }: ObservedContext,
  onPut: () => void,
): Promise<Manifest> {
  const { place } = whole;
  const home = homeAt(place);
  for (let look = 0; look < looks && slices.hasWaited; look += 1) {
    const written = await home.readManifest();
    if (written !== undefined) return written;
    await clock.sleep((place.deadAfterSeconds * 1000) / looks, stop);
  }
  slices.hasWaited = false;
  return putWholeManifest(whole, onPut);
}

/**
 * Counts the calls of a worker: together with those of all others and of earlier runs where a database is shared, else
 * within its part of the overrun.
 */
function fleetBrake({
  job,
  address,
  start,
  workers,
  pace,
}: {
  readonly job: Job;
  readonly address: string;
  readonly start: EnqueuedStart;
  /** Of workers that share no database, so many make the export. */
  readonly workers: number;
  /** Of workers that share one. */
  readonly pace: SharedPace | undefined;
}): Brake {
  const overrun = overrunOf(job.budget.overrun);
  const mostPlanned = callsOf(start, job);
  if (pace === undefined) return new Brake({ overrun: overrunOfWorker(fixedOverrun(overrun, mostPlanned), workers) });
  // An export that is started over has sums of its own.
  const name = `${sha256(`${job.output.endpoint ?? ''} ${address}`).slice(0, 16)}-${start.startedAtMs}`;
  return new Brake({ overrun, fleet: { export: name, mostPlanned } });
}

/** Calls that the whole export is worth, single calls included. */
function callsOf({ slices }: EnqueuedStart, job: Job): number {
  const hasSingles = asksAlone(job);
  return slices.reduce((sum, { calls, valid }) => sum + calls + (hasSingles ? valid : 0), 0);
}

/** What an export began with whose slices are in the bucket. */
interface EnqueuedStart extends HomeStart {
  readonly entries: number;
  readonly slices: EnqueuedSlice[];
}

/** @throws {ExportError} `input` before `enqueue` */
async function requireEnqueued(place: HomePlace): Promise<EnqueuedStart> {
  const start = await readStart(place);
  const { slices, entries } = start ?? {};
  if (start !== undefined && slices !== undefined && entries !== undefined) return { ...start, slices, entries };
  throw new ExportError('input', `${place.address} has no slices: its ids were not enqueued`, {
    todo: 'Run asset-export enqueue with the same job first.',
  });
}

interface WholeExport {
  readonly place: HomePlace;
  readonly job: Job;
  readonly start: EnqueuedStart;
  readonly version: string;
}

/**
 * Puts the manifest of an export whose slices are all done, or gives the one that another process put meanwhile.
 * @param onPut called if this process put it
 * @throws {ExportError} `unavailable` when slices are not done, `damaged`
 */
async function putWholeManifest({ place, job, start, version }: WholeExport, onPut: () => void): Promise<Manifest> {
  const home = homeAt(place);
  const logs = await readLogs(place);
  const open = start.slices.filter((_, slice) => logs.get(slice)?.state.isDone !== true).length;
  if (open > 0) {
    // The worker that completes an export removes its logs.
    const written = await home.readManifest();
    if (written !== undefined) return written;
    throw notDone(place.address, open, start.slices.length);
  }
  const all = [...logs.values()];
  requireWhole(place.address, start, all);
  const begun = jobAsBegun(job, start.job);
  return home.putManifest(manifestOf({ job: begun, start, commits: commitsOf(all), ...spentOf(all), version }), onPut);
}

/** @throws {ExportError} `damaged` when a done slice does not have all of its entries */
function requireWhole(address: string, { slices }: EnqueuedStart, logs: readonly SliceLog[]): void {
  for (const { slice, state } of logs) {
    const entries = [...state.commits.values()].reduce((sum, { counts }) => sum + counts.read, 0);
    const expected = slices[slice]?.entries;
    if (entries === expected) continue;
    throw new ExportError(
      'damaged',
      `slice ${slice} of ${address} is done with ${entries} entries, and ${expected ?? 0} were enqueued`,
      { todo: 'Start over with asset-export enqueue --fresh.' },
    );
  }
}

function notDone(address: string, open: number, slices: number): ExportError {
  return new ExportError(
    'unavailable',
    `${plural(open, 'slice')} of ${slices} of ${address} ${open === 1 ? 'is' : 'are'} not done`,
    { todo: `Run asset-export work with the same job; ${commandLine('status', address)} shows the active workers.` },
  );
}
