import { ExportError } from '../lib/export-error.ts';
import { type Checkpoint, openCheckpoint, type ExportStart, readCheckpoint } from '../store/checkpoint.ts';
import type { Commit } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import { type Journal, openJournal } from '../store/journal.ts';
import { openTally, type Tally } from '../store/tally.ts';
import { requireSame } from './job-shape.ts';
import { partFiles } from './throw-away.ts';

/** What an unfinished export keeps on disk, open for one run. */
export interface OpenExport {
  readonly checkpoint: Checkpoint;
  readonly journal: Journal;
  /** Calls sent, and credits that these may have cost, over all runs. */
  readonly calls: Tally;
  readonly credits: Tally;
  close(): Promise<void>;
}

interface Closable {
  close(): Promise<void>;
}

/**
 * Opens an export where it stands, or begins it.
 * @throws {ExportError} when it began with another job or other inputs, or a committed part is gone
 */
export async function openExport(files: FileStore, folder: string, start: ExportStart): Promise<OpenExport> {
  const open: Closable[] = [];
  const close = async (): Promise<void> => {
    const ended = await Promise.allSettled(open.splice(0).map((each) => each.close()));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  };
  try {
    if ((await readCheckpoint(files, folder)) === undefined) await requireNoParts(files, folder);
    const checkpoint = await openCheckpoint(files, folder, start);
    open.push(checkpoint);
    requireSame(folder, checkpoint.start, start);
    await requireParts(files, folder, checkpoint.commits);
    await files.remove(pathIn(folder, exportPaths.unfinished));
    const journal = await openJournal(files, folder);
    open.push(journal);
    // A crash between a commit and this line leaves answers that nobody needs.
    await journal.dropThrough(checkpoint.commits.length - 1);
    const calls = await openTally(files, pathIn(folder, exportPaths.callCount));
    open.push(calls);
    const credits = await openTally(files, pathIn(folder, exportPaths.creditCount));
    open.push(credits);
    return { checkpoint, journal, calls, credits, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
}

/** An export begins before its first part: parts without a checkpoint are those of one that lost it. */
async function requireNoParts(files: FileStore, folder: string): Promise<void> {
  const [part] = await partFiles(files, folder);
  if (part === undefined) return;
  const path = pathIn(folder, exportPaths.checkpoint);
  throw new ExportError('damaged', `${path} is gone or empty, but ${part} is there: how far the export was is lost`, {
    todo: 'Restore the folder from a copy, or begin anew with --fresh: it throws these files away and pays for all calls again.',
  });
}

/** Committed files are not made again: one that is gone or cut would be found missing only at the end. */
async function requireParts(files: FileStore, folder: string, commits: readonly Commit[]): Promise<void> {
  for (const { path, bytes } of commits.flatMap((commit) => commit.files)) {
    const size = await files.sizeOf(pathIn(folder, path));
    if (size === bytes) continue;
    const now = size === undefined ? 'it is gone' : size === 'folder' ? 'it is a folder' : `it has ${size} now`;
    throw new ExportError('damaged', `${pathIn(folder, path)} is damaged: ${bytes} bytes were committed, and ${now}`, {
      todo: 'Restore it from a copy, or begin anew with --fresh.',
    });
  }
}
