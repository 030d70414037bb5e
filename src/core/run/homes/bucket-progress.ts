import { type Beat, readBeat } from '../../../places/log/heartbeat.ts';
import { commitsOf, type SliceLog, spentOf } from '../../../places/log/slice-log.ts';
import { exportPaths } from '../../../places/export/export-folder.ts';
import { type Manifest, parseManifest } from '../../../places/export/manifest.ts';
import { committedCounts } from '../../../places/scratch/commit-sums.ts';
import { askedIds } from '../record/runs-model.ts';
import { readObjectIfThere } from '../../../places/objects/small-objects.ts';
import type { BucketPlace } from './bucket-place.ts';
import { type BucketStart, readBucketStart } from './bucket-start.ts';
import type { ExportProgress } from './export-home.ts';
import { readLogs } from './slice-holders.ts';

/** How far an export in a bucket is, with the last heartbeats of its holders. */
export interface BucketProgress extends ExportProgress {
  readonly start: BucketStart;
  /** Slices that are done. */
  readonly slicesDone: number;
  readonly beats: readonly HolderBeat[];
  /** Ids whose answers stopped workers left in the bucket, and that are in no committed part. */
  readonly kept: number;
}

/** The last heartbeat of a holder. */
export interface HolderBeat extends Beat {
  /** Ids whose answers it has, and that are in no committed part. */
  readonly fetched: number;
}

/** The manifest of an export in a bucket; undefined when it is not complete. @throws {ExportError} `damaged` */
export async function readBucketManifest({
  store,
  address,
}: Pick<BucketPlace, 'store' | 'address'>): Promise<Manifest | undefined> {
  const name = exportPaths.manifest;
  const bytes = await readObjectIfThere(store, name);
  return bytes === undefined ? undefined : parseManifest(bytes, `${address}/${name}`);
}

/** Reads the logs and heartbeats; undefined when no export has begun. */
export async function readBucketProgress(
  place: Pick<BucketPlace, 'store' | 'address'>,
): Promise<BucketProgress | undefined> {
  const start = await readBucketStart(place);
  if (start === undefined) return undefined;
  const logs = [...(await readLogs(place)).values()];
  const beatBySlice = new Map<number, Beat>();
  for (const log of logs) {
    const beat = await beatOf(place, log);
    if (beat !== undefined) beatBySlice.set(log.slice, beat);
  }
  const spent = spentOf(logs, ({ slice }) => {
    const beat = beatBySlice.get(slice);
    return beat === undefined ? undefined : { scratch: beat.scratch, spent: () => beat };
  });
  const beats = logs.flatMap((log) => {
    const beat = beatBySlice.get(log.slice);
    return beat === undefined ? [] : [{ ...beat, fetched: uncommitted(log, beat.answered) }];
  });
  const kept = logs.reduce((sum, log) => sum + uncommitted(log, log.state.answered), 0);
  const slicesDone = logs.filter(({ state }) => state.isDone).length;
  return { start, commits: commitsOf(logs), spent, beats, kept, slicesDone };
}

/** A commit may have followed: then less than was known is not committed. */
function uncommitted({ state }: SliceLog, answered: number): number {
  return Math.max(0, answered - askedIds(committedCounts([...state.commits.values()])));
}

async function beatOf({ store }: Pick<BucketPlace, 'store'>, { state }: SliceLog): Promise<Beat | undefined> {
  return state.holder === undefined ? undefined : readBeat(store, state.holder.nonce);
}
