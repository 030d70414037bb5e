import type { LockOwner } from '../../lib/process/lock-owner.ts';
import type { ObjectStore } from '../../objects/object-store.ts';
import type { Beat } from '../../slices/heartbeat.ts';
import { exportPaths } from '../../store/export-folder.ts';
import type { ExportStanding } from '../../store/export-standing.ts';
import { parseRunLines, type RunLine } from '../../store/run-lines.ts';
import { bytesOf } from './bucket-bytes.ts';
import { readBucketManifest, readBucketProgress } from './bucket-progress.ts';
import { readRecords } from './bucket-record.ts';

/** How an export in a bucket stands; undefined where there is none. @throws {ExportError} `damaged` */
export async function bucketStanding(
  store: ObjectStore,
  address: string,
  nowMs: number,
): Promise<ExportStanding | undefined> {
  const place = { store, address };
  const manifest = await readBucketManifest(place);
  if (manifest !== undefined) return { manifest, lines: await keptRecord(store) };
  const progress = await readBucketProgress(place);
  if (progress === undefined) return undefined;
  const { start, commits, spent, beats } = progress;
  return { start, commits, spent, owner: livingOwner(beats, nowMs), lines: await readRecords(place) };
}

async function keptRecord(store: ObjectStore): Promise<RunLine[]> {
  if ((await store.look(exportPaths.keptRunLines)) === undefined) return [];
  return parseRunLines((await bytesOf(store, exportPaths.keptRunLines)).toString('utf8'));
}

/** The holder that was heard last. For people alone: clocks of two machines are compared. */
function livingOwner(beats: readonly Beat[], nowMs: number): LockOwner | undefined {
  const last = [...beats].sort((a, b) => b.atMs - a.atMs)[0];
  if (last === undefined || nowMs - last.atMs > last.deadAfterSeconds * 1000) return undefined;
  return { host: last.host, pid: last.pid, started: '', boot: '', nonce: '' };
}
