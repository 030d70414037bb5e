import { mayLive, type FleetStanding } from '../../../places/log/heartbeat.ts';
import type { LockOwner } from '../../../lib/process/lock-owner.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { lockOwner } from '../../../places/files/lock.ts';
import { storeWithin } from '../../../places/objects/object-store.ts';
import { readManifestAt, withoutManifest } from '../../../places/export/manifest.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import { type Spent, sumOfSpent } from '../../../places/export/export-facts.ts';
import { type ExportStanding, readRunLines } from '../history/run-history.ts';
import { type HolderBeat, type HomeProgress, readProgress, type SeenPlace } from './home-progress.ts';
import type { ExportPlace } from './export-place.ts';

/** How the export stands that lies there. @throws {ExportError} `usage` where none does, `damaged` */
export async function standingAt(place: ExportPlace, nowMs: number): Promise<ExportStanding> {
  const standing = await standingIfAny(place, nowMs);
  if (standing !== undefined) return standing;
  throw await withoutManifest(place.files, place.folder);
}

/** The same; undefined where none does. @throws {ExportError} `damaged` */
export async function standingIfAny(
  { files, folder, store }: ExportPlace,
  nowMs: number,
): Promise<ExportStanding | undefined> {
  const shared = store.isShared ? await import('./shared-home.ts') : undefined;
  const place = { files, store, address: folder, scratch: folder, shared };
  const complete = async (): Promise<ExportStanding | undefined> => {
    const manifest = await readManifestAt(place);
    return manifest && { manifest, lines: await readRunLines(files, folder) };
  };
  try {
    const before = await complete();
    if (before !== undefined) return before;
    const unfinished = await unfinishedStanding(place, nowMs);
    // A run that ends puts the manifest before it takes all else away.
    return (await complete()) ?? unfinished;
  } catch (error) {
    const standing = error instanceof ExportError ? await complete() : undefined;
    if (standing === undefined) throw error;
    return standing;
  }
}

async function unfinishedStanding(place: SeenPlace, nowMs: number): Promise<ExportStanding | undefined> {
  const { files, address, shared } = place;
  const progress = await readProgress(place);
  const living = progress?.beats.filter((beat) => mayLive(beat, nowMs)) ?? [];
  const owner = shared === undefined ? await lockOwner(address) : ownerOf(living);
  if (progress === undefined && owner === undefined) return undefined;
  const lines = shared === undefined ? await readRunLines(files, address) : await shared.readRunHistories(place);
  const spent = sumOfSpent(progress?.spent ?? { calls: 0, credits: 0 }, await spentOnBase(place));
  const fleet = progress && fleetOf(progress, living, nowMs);
  return { start: progress?.start, commits: progress?.commits ?? [], spent, owner, lines, fleet };
}

/** An export with a base requests within itself. */
async function spentOnBase(place: SeenPlace): Promise<Spent> {
  const within = exportPaths.asked;
  const folder = pathIn(place.address, within);
  const asked = { ...place, store: storeWithin(place.store, within), address: folder, scratch: folder };
  return (await readManifestAt(asked)) ?? (await readProgress(asked))?.spent ?? { calls: 0, credits: 0 };
}

function fleetOf(
  { start, slicesDone: done, kept }: HomeProgress,
  living: readonly HolderBeat[],
  nowMs: number,
): FleetStanding | undefined {
  const { slices, entries } = start;
  if (slices === undefined || entries === undefined) return undefined;
  const workers = living.map(({ host, pid, slice, calls, credits, fetched, atMs }) => {
    return {
      host,
      pid,
      slice,
      calls,
      credits,
      fetched,
      heardSecondsAgo: Math.max(0, Math.round((nowMs - atMs) / 1000)),
    };
  });
  workers.sort((a, b) => a.slice - b.slice);
  const held = workers.length;
  return { entries, slices: slices.length, done, held, free: Math.max(0, slices.length - done - held), kept, workers };
}

/** The holder that was heard last. */
function ownerOf(living: readonly HolderBeat[]): LockOwner | undefined {
  const last = [...living].sort((a, b) => b.atMs - a.atMs)[0];
  if (last === undefined) return undefined;
  return { host: last.host, pid: last.pid, started: '', boot: '', nonce: '' };
}
