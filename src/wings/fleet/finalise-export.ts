import { ExportError } from '../../lib/export-error.ts';
import { plural } from '../../lib/format-text.ts';
import { uuidV7 } from '../../lib/uuid-v7.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { commitsOf, type SliceLog, spentOf, readLogs } from '../../places/log/slice-log.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { reportFor, type RunWings } from '../../core/run/run-wings.ts';
import { afterComplete, nightsFor } from '../../core/run/nights.ts';
import type { Job } from '../../core/job/job-schema.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { manifestOf } from '../../core/run/complete-export.ts';
import { homeAt, clearComplete } from '../../core/run/homes/home.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { type HomeStart, type EnqueuedSlice, readStart } from '../../core/run/homes/home-start.ts';
import { openHomePlace } from '../../core/run/homes/open-home.ts';
import { alreadyComplete, type ExportOutcome } from '../../core/run/export-outcome.ts';
import { jobAsBegun } from '../../core/run/job-shape.ts';
import { endOf } from '../../core/run/observed-run.ts';
import { Notices } from '../../core/work/run-observer.ts';
import { completedElsewhere } from '../../core/run/homes/hold-home.ts';
import { requireFleetHome } from './fleet-home.ts';

export interface FinaliseContext
  extends RunWings,
    Pick<ExportContext, 'files' | 'clock' | 'random' | 'openStore' | 'version' | 'listener' | 'observe'> {
  /** Takes the slices that are not done. */
  readonly onOpen?: (slices: readonly number[]) => Promise<void>;
}

export interface Finalised extends Pick<ExportOutcome, 'lake' | 'error'> {
  readonly state: 'complete' | 'already';
  readonly manifest: Manifest;
}

/**
 * Completes an export whose slices are all done: looks at every file, puts the manifest, and removes `.run/`.
 * @throws {ExportError} `unavailable` naming slices that are not done
 */
export async function finaliseExport(job: Job, context: FinaliseContext): Promise<Finalised> {
  requireFleetHome(job, 'finalise');
  const place = await openHomePlace(job, context);
  const home = homeAt(place);
  const written = await home.readManifest();
  const done: Finalised =
    written === undefined ? await completeNow(job, place, context) : { state: 'already', manifest: written };
  const nights = await nightsFor(job, context.nights);
  const after = afterComplete(nights, { job, outputDir: job.output.dir, place: home.place }, context);
  const outcome = await after.publish({ ...alreadyComplete(place.address, done.manifest), state: done.state });
  await after.keep(outcome);
  if (done.state === 'complete') await tellComplete(job, { manifest: done.manifest, outcome, place }, context);
  const { lake, error } = outcome;
  return { ...done, ...(lake === undefined ? {} : { lake }), ...(error === undefined ? {} : { error }) };
}

async function completeNow(job: Job, place: HomePlace, context: FinaliseContext): Promise<Finalised> {
  try {
    const start = await requireEnqueued(place);
    const { version, onOpen } = context;
    const manifest = await putWholeManifest({ place, job, start, version, onOpen });
    await clearComplete(place);
    return { state: 'complete', manifest };
  } catch (error) {
    const manifest = await completedElsewhere(homeAt(place), error);
    if (manifest === undefined) throw error;
    return { state: 'already', manifest };
  }
}

/** No worker has told of the export: writes its report, and has observers know that it is complete. */
async function tellComplete(
  job: Job,
  {
    place,
    manifest,
    outcome,
  }: Pick<Finalised, 'manifest'> & { readonly outcome: ExportOutcome; readonly place: HomePlace },
  context: FinaliseContext,
): Promise<void> {
  const { clock, version, listener, observe } = context;
  const report = await reportFor(job, context)?.();
  const quality = await report?.(homeAt(place).place, context);
  if (observe === undefined) return;
  const startedAtMs = manifest.startedAtMs ?? clock.now();
  const ledger = { booked: () => Promise.resolve(0) };
  const own = { run: uuidV7(clock.now()), notices: new Notices() };
  const observer = await observe({ job, ...own, version, clock, ledger, startedAtMs, listener });
  const { counts, parts, inputs } = manifest;
  const inputBytes = inputs.reduce((sum, { bytes }) => sum + bytes, 0);
  observer.listener({ kind: 'opened', inputBytes, parts, answers: 0, counts, inputs });
  await observer.end({ ...endOf(outcome, job), quality });
}

/** What an export began with whose slices are in the bucket. */
export interface EnqueuedStart extends HomeStart {
  readonly entries: number;
  readonly slices: EnqueuedSlice[];
}

/** @throws {ExportError} `input` before `enqueue` */
export async function requireEnqueued(place: HomePlace): Promise<EnqueuedStart> {
  const start = await readStart(place);
  const { slices, entries } = start ?? {};
  if (start !== undefined && slices !== undefined && entries !== undefined) return { ...start, slices, entries };
  throw new ExportError('input', `${place.address} has no slices: its ids were not enqueued`, {
    todo: 'Run asset-export enqueue with the same job first.',
  });
}

export interface WholeExport {
  readonly place: HomePlace;
  readonly job: Job;
  readonly start: EnqueuedStart;
  readonly version: string;
  readonly onOpen?: FinaliseContext['onOpen'] | undefined;
}

/**
 * Puts the manifest of an export whose slices are all done, or gives the one that another process put meanwhile.
 * @throws {ExportError} `unavailable` naming slices that are not done
 */
export async function putWholeManifest({ place, job, start, version, onOpen }: WholeExport): Promise<Manifest> {
  const home = homeAt(place);
  const logs = await readLogs(place);
  const open = start.slices.flatMap((_, slice) => (logs.get(slice)?.state.isDone === true ? [] : [slice]));
  if (open.length > 0) {
    // Who completes an export removes its logs.
    const written = await home.readManifest();
    if (written !== undefined) return written;
    await onOpen?.(open);
    throw notDone(place.address, open, start.slices.length);
  }
  const all = [...logs.values()];
  requireWhole(place.address, start, all);
  const begun = jobAsBegun(job, start.job);
  return home.putManifest(manifestOf({ job: begun, start, commits: commitsOf(all), ...spentOf(all), version }));
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

/** So many slices are named. */
const named = 10;

function notDone(address: string, open: readonly number[], slices: number): ExportError {
  const names = `${open.slice(0, named).join(', ')}${open.length > named ? ', …' : ''}`;
  return new ExportError(
    'unavailable',
    `${plural(open.length, 'slice')} of ${slices} of ${address} ${open.length === 1 ? 'is' : 'are'} not done: ${names}`,
    {
      todo: `Run asset-export work with the same job; ${commandLine('status', address)} shows the active workers.`,
      facts: { slices: open.length },
    },
  );
}
