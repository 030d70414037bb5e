import { ExportError } from '../lib/export-error.ts';
import { type CallCount, openCallCount } from '../store/call-count.ts';
import { type Checkpoint, openCheckpoint, type ExportStart } from '../store/checkpoint.ts';
import type { Commit } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import { type Journal, openJournal } from '../store/journal.ts';
import { requireSame } from './job-shape.ts';

/** What an unfinished export keeps on disk, open for one run. */
export interface OpenExport {
  readonly checkpoint: Checkpoint;
  readonly journal: Journal;
  readonly callCount: CallCount;
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
    const checkpoint = await openCheckpoint(files, folder, start);
    open.push(checkpoint);
    requireSame(folder, checkpoint.start, start);
    await requireParts(files, folder, checkpoint.commits);
    await files.remove(pathIn(folder, exportPaths.unfinished));
    const journal = await openJournal(files, folder);
    open.push(journal);
    // A crash between a commit and this line leaves answers that nobody needs.
    await journal.dropThrough(checkpoint.commits.length - 1);
    const callCount = await openCallCount(files, folder);
    open.push(callCount);
    return { checkpoint, journal, callCount, close };
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
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
