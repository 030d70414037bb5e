import type { Beat } from '../../../places/log/heartbeat.ts';
import { commitsOf, type SliceLog, type SpentInScratch, spentOf, readLogs } from '../../../places/log/slice-log.ts';
import { spentIn } from '../../../places/export/export-facts.ts';
import { committedCounts } from '../../../places/scratch/commit-sums.ts';
import type { Reads } from '../../../places/files/disk.ts';
import { askedIds } from '../history/run-figures.ts';
import type { ExportProgress } from './export-home.ts';
import type { HomePlace } from './home-place.ts';
import { type HomeStart, ownFolder, readStart } from './home-start.ts';

/** How far an unfinished export is, with the last heartbeats of its holders. */
export interface HomeProgress extends ExportProgress {
  readonly start: HomeStart;
  /** Slices that are done. */
  readonly slicesDone: number;
  readonly beats: readonly HolderBeat[];
  /** Ids whose answers stopped workers left in the bucket, and that are in no committed part. */
  readonly kept: number;
}

/** A place at which an export is looked at. */
export interface SeenPlace extends Pick<HomePlace, 'store' | 'address' | 'scratch' | 'shared'> {
  readonly files: Reads;
}

/** The last heartbeat of a holder. */
export interface HolderBeat extends Beat {
  /** Ids whose answers it has, and that are in no committed part. */
  readonly fetched: number;
}

/** Reads the logs and heartbeats; undefined when no export has begun. */
export async function readProgress(place: SeenPlace): Promise<HomeProgress | undefined> {
  const start = await readStart(place);
  if (start === undefined) return undefined;
  const logs = [...(await readLogs(place)).values()];
  const beatBySlice = await beatsOf(place, logs);
  const own = place.shared === undefined ? await spentIn(place.files, place.scratch) : undefined;
  const spent = spentOf(logs, ({ slice }): SpentInScratch | undefined => {
    if (own !== undefined) return { scratch: ownFolder, spent: () => own };
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

/** By slice. */
async function beatsOf(
  { store, shared }: Pick<HomePlace, 'store' | 'shared'>,
  logs: readonly SliceLog[],
): Promise<ReadonlyMap<number, Beat>> {
  const found = new Map<number, Beat>();
  for (const { slice, state } of logs) {
    const beat = state.holder && (await shared?.readBeat(store, state.holder.nonce));
    if (beat !== undefined) found.set(slice, beat);
  }
  return found;
}
