import { type CallCount, openCallCount } from '../store/call-count.ts';
import { type Checkpoint, openCheckpoint, type ExportStart } from '../store/checkpoint.ts';
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

/** Opens an export where it stands, or begins it. @throws {ExportError} when it began with another job or other inputs. */
export async function openExport(files: FileStore, folder: string, start: ExportStart): Promise<OpenExport> {
  const checkpoint = await openCheckpoint(files, folder, start);
  try {
    requireSame(folder, checkpoint.start, start);
    await files.remove(pathIn(folder, exportPaths.unfinished));
    const journal = await openJournal(files, folder);
    // A crash between a commit and this line leaves answers that nobody needs.
    await journal.dropThrough(checkpoint.commits.length - 1);
    const callCount = await openCallCount(files, folder);
    const close = async (): Promise<void> => {
      await journal.close();
      await callCount.close();
      await checkpoint.close();
    };
    return { checkpoint, journal, callCount, close };
  } catch (error) {
    await checkpoint.close();
    throw error;
  }
}
