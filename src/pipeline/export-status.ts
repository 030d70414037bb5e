import { ExportError } from '../lib/export-error.ts';
import { readCheckpoint } from '../store/checkpoint.ts';
import { type Counts, noCounts, sumOf } from '../store/export-facts.ts';
import type { FileStore } from '../store/file-store.ts';
import { lockOwner } from '../store/lock.ts';
import type { LockOwner } from '../store/lock-owner.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import { type HoldingNote, readHolding } from '../store/holding-file.ts';
import { readTally } from '../store/tally.ts';
import { type Manifest, readManifest } from '../store/manifest.ts';

/** Where an export stands. Reading it changes nothing. */
export interface ExportStatus {
  readonly state: 'complete' | 'running' | 'stopped';
  /** Of committed parts. */
  readonly counts: Counts;
  readonly parts: number;
  /** Share of the input's bytes that committed parts cover, 0 to 1. */
  readonly inputShare: number;
  /** Calls sent over all runs. */
  readonly calls: number;
  readonly inputs: readonly string[];
  /** Who runs it now. */
  readonly owner: LockOwner | null;
  /** What it holds in memory: answers in flight, ids and answers whose rows are not written; and whether calls wait for that. */
  readonly memory: HoldingNote | null;
  readonly startedAt: string | null;
}

/** @throws {ExportError} `usage` when there is no export in the folder */
export async function exportStatus(files: FileStore, folder: string): Promise<ExportStatus> {
  const manifest = await readManifest(files, folder);
  if (manifest !== undefined) return completed(manifest);
  const checkpoint = await readCheckpoint(files, folder);
  const owner = await lockOwner(folder);
  const calls = await readTally(files, pathIn(folder, exportPaths.callCount));
  const holding = await readHolding(files, folder);
  // A run that ends writes the manifest before it takes all else away.
  const written = await readManifest(files, folder);
  if (written !== undefined) return completed(written);
  if (checkpoint === undefined && owner === undefined) {
    throw new ExportError('usage', `${folder} holds no export: neither a manifest nor a checkpoint is there`, {
      todo: 'Name the folder that --out or output.dir named.',
    });
  }
  const commits = checkpoint?.commits ?? [];
  const inputBytes = checkpoint?.start.inputs.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  return {
    state: owner === undefined ? 'stopped' : 'running',
    counts: sumOf(
      noCounts,
      commits.map(({ counts }) => counts),
    ),
    parts: commits.length,
    inputShare: inputBytes === 0 ? 0 : Math.min(1, (commits.at(-1)?.inputBytes ?? 0) / inputBytes),
    calls,
    inputs: checkpoint?.start.inputs.map(({ name }) => name) ?? [],
    owner: owner ?? null,
    memory: owner === undefined ? null : (holding ?? null),
    startedAt: checkpoint === undefined ? null : new Date(checkpoint.start.startedAtMs).toISOString(),
  };
}

function completed({ counts, parts, calls, inputs }: Manifest): ExportStatus {
  const names = inputs.map(({ name }) => name);
  const unfinished = { owner: null, memory: null, startedAt: null };
  return { state: 'complete', counts, parts, inputShare: 1, calls, inputs: names, ...unfinished };
}
