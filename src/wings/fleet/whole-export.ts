import { ExportError } from '../../lib/export-error.ts';
import { plural } from '../../lib/format-text.ts';
import { commandLine } from '../../lib/addresses/shown-text.ts';
import { commitsOf, type SliceLog, spentOf, readLogs } from '../../places/log/slice-log.ts';
import type { Job } from '../../core/job/job-schema.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { manifestOf } from '../../core/run/complete-export.ts';
import { homeAt } from '../../core/run/homes/home.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { type HomeStart, type EnqueuedSlice, readStart } from '../../core/run/homes/home-start.ts';
import { jobAsBegun } from '../../core/run/job-shape.ts';

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
}

/**
 * Puts the manifest of an export whose slices are all done, or gives the one that another process put meanwhile.
 * @param onPut called if this process put it
 * @throws {ExportError} `unavailable` when slices are not done, `damaged`
 */
export async function putWholeManifest(
  { place, job, start, version }: WholeExport,
  onPut: () => void,
): Promise<Manifest> {
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
