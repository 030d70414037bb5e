import type { LockOwner } from '../../../lib/process/lock-owner.ts';
import { ExportError } from '../../../lib/export-error.ts';
import type { ObjectStore } from '../../../places/objects/object-store.ts';
import { storeWithin } from '../../../places/objects/store-within.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { FleetStanding } from '../../../places/export/fleet-standing.ts';
import { type Spent, sumOfSpent } from '../../../places/export/spent.ts';
import type { ExportStanding } from '../record/export-standing.ts';
import { parseRunLines, type RunLine } from '../record/run-lines.ts';
import { readObjectIfThere } from '../../../places/objects/small-objects.ts';
import type { BucketPlace } from './bucket-place.ts';
import { type BucketProgress, type HolderBeat, readBucketManifest, readBucketProgress } from './bucket-progress.ts';
import { readRunRecords } from './bucket-record.ts';

/** How an export in a bucket stands; undefined where there is none. @throws {ExportError} `damaged` */
export async function bucketStanding(
  store: ObjectStore,
  address: string,
  nowMs: number,
): Promise<ExportStanding | undefined> {
  const place = { store, address };
  const complete = async (): Promise<ExportStanding | undefined> => {
    const manifest = await readBucketManifest(place);
    return manifest && { manifest, lines: await keptRecord(store) };
  };
  try {
    return (await complete()) ?? (await unfinishedStanding(place, nowMs)) ?? (await complete());
  } catch (error) {
    // Who completes an export meanwhile removes what tells how far it is.
    const standing = error instanceof ExportError ? await complete() : undefined;
    if (standing === undefined) throw error;
    return standing;
  }
}

async function unfinishedStanding(
  place: Pick<BucketPlace, 'store' | 'address'>,
  nowMs: number,
): Promise<ExportStanding | undefined> {
  const progress = await readBucketProgress(place);
  if (progress === undefined) return undefined;
  const { start, commits } = progress;
  const spent = sumOfSpent(progress.spent, await spentOnBase(place));
  const lines = await readRunRecords(place);
  const living = progress.beats.filter((beat) => isLiving(beat, nowMs));
  const fleet = fleetOf(progress, living, nowMs);
  return { start, commits, spent, owner: ownerOf(living), lines, ...(fleet === undefined ? {} : { fleet }) };
}

/** An export with a base requests within itself. */
async function spentOnBase({ store, address }: Pick<BucketPlace, 'store' | 'address'>): Promise<Spent> {
  const within = exportPaths.asked;
  const asked = { store: storeWithin(store, within), address: pathIn(address, within) };
  return (await readBucketManifest(asked)) ?? (await readBucketProgress(asked))?.spent ?? { calls: 0, credits: 0 };
}

function fleetOf(
  { start, slicesDone: done, kept }: BucketProgress,
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

async function keptRecord(store: ObjectStore): Promise<RunLine[]> {
  const bytes = await readObjectIfThere(store, exportPaths.keptRunLines);
  return bytes === undefined ? [] : parseRunLines(bytes.toString());
}

/** For people alone: clocks of two machines are compared. */
function isLiving({ atMs, deadAfterSeconds }: HolderBeat, nowMs: number): boolean {
  return nowMs - atMs <= deadAfterSeconds * 1000;
}

/** The holder that was heard last. */
function ownerOf(living: readonly HolderBeat[]): LockOwner | undefined {
  const last = [...living].sort((a, b) => b.atMs - a.atMs)[0];
  if (last === undefined) return undefined;
  return { host: last.host, pid: last.pid, started: '', boot: '', nonce: '' };
}
