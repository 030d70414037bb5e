import type { LockOwner } from '../../lib/process/lock-owner.ts';
import { type ExportStart, readCheckpoint } from '../scratch/checkpoint.ts';
import type { Commit } from './export-facts.ts';
import { exportPaths, pathIn } from './export-folder.ts';
import type { FleetStanding } from './fleet-standing.ts';
import type { FileStore } from '../files/file-store.ts';
import { lockOwner } from '../files/lock.ts';
import { type Manifest, readManifest } from './manifest.ts';
import type { RunLine } from '../../core/run/record/run-lines.ts';
import { readRunLines } from '../../core/run/record/run-record.ts';
import { readTally } from '../scratch/tally.ts';

/** Calls sent, and credits that these may have cost, over all runs of an export. */
export interface Spent {
  readonly calls: number;
  readonly credits: number;
}

/** What is known of an export that is not complete. */
export interface UnfinishedStanding {
  /** Undefined as long as a run reads its inputs. */
  readonly start: ExportStart | undefined;
  readonly commits: readonly Commit[];
  readonly spent: Spent;
  /** Who makes its parts; undefined when nobody does. */
  readonly owner: LockOwner | undefined;
  readonly lines: readonly RunLine[];
  /** Of an export that was enqueued. */
  readonly fleet?: FleetStanding | undefined;
}

/** How an export stands now: what `status` and `report` are made of. */
export type ExportStanding = UnfinishedStanding | { readonly manifest: Manifest; readonly lines: readonly RunLine[] };

/** How the export in a folder stands; undefined where there is none. @throws {ExportError} `damaged` */
export async function folderStanding(files: FileStore, folder: string): Promise<ExportStanding | undefined> {
  const manifest = await readManifest(files, folder);
  if (manifest !== undefined) return { manifest, lines: await readRunLines(files, folder) };
  const owner = await lockOwner(folder);
  const checkpoint = await readCheckpoint(files, folder);
  const spent = sumOfSpent(await spentIn(files, folder), await spentOnBase(files, folder));
  const lines = await readRunLines(files, folder);
  // A run that ends writes the manifest before it takes all else away.
  const written = await readManifest(files, folder);
  if (written !== undefined) return { manifest: written, lines };
  if (checkpoint === undefined && owner === undefined) return undefined;
  return { start: checkpoint?.start, commits: checkpoint?.commits ?? [], spent, owner, lines };
}

/** What the runs of an export in a folder spent so far. */
export async function spentIn(files: FileStore, folder: string): Promise<Spent> {
  const calls = await readTally(files, pathIn(folder, exportPaths.callCount));
  const credits = await readTally(files, pathIn(folder, exportPaths.creditCount));
  return { calls, credits };
}

/** An export with a base requests within itself. */
async function spentOnBase(files: FileStore, folder: string): Promise<Spent> {
  const asked = pathIn(folder, exportPaths.asked);
  return (await readManifest(files, asked)) ?? spentIn(files, asked);
}

export function sumOfSpent(one: Spent, other: Spent): Spent {
  return { calls: one.calls + other.calls, credits: one.credits + other.credits };
}
