import type { LockOwner } from '../../../lib/process/lock-owner.ts';
import { type ExportStart, readCheckpoint } from '../../../places/scratch/checkpoint.ts';
import type { Commit } from '../../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../../places/export/export-folder.ts';
import type { FleetStanding } from '../../../places/export/fleet-standing.ts';
import type { FileStore } from '../../../places/files/file-store.ts';
import { lockOwner } from '../../../places/files/lock.ts';
import { type Manifest, readManifest } from '../../../places/export/manifest.ts';
import type { RunLine } from './run-lines.ts';
import { readRunLines } from './run-record.ts';
import { type Spent, spentIn, sumOfSpent } from '../../../places/export/spent.ts';

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

/** An export with a base requests within itself. */
async function spentOnBase(files: FileStore, folder: string): Promise<Spent> {
  const asked = pathIn(folder, exportPaths.asked);
  return (await readManifest(files, asked)) ?? spentIn(files, asked);
}
