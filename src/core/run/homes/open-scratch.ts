import { exportPaths, journalPart, pathIn } from '../../../places/export/export-folder.ts';
import type { Disk } from '../../../places/files/disk.ts';
import { type Journal, openJournal } from '../../../places/scratch/journal.ts';
import { openTally, type Tally } from '../../../places/export/export-facts.ts';

/** What a slice keeps on the local disk while its parts are made. */
export interface OpenScratch {
  readonly journal: Journal;
  /** Calls sent, and credits that these may have cost, over all runs in this folder. */
  readonly calls: Tally;
  readonly credits: Tally;
  close(): Promise<void>;
}

/** Things that were opened, to be closed together. */
export class ClosingStack {
  readonly #open: { close(): Promise<void> }[] = [];

  add<T extends { close(): Promise<void> }>(opened: T): T {
    this.#open.push(opened);
    return opened;
  }

  async close(): Promise<void> {
    const ended = await Promise.allSettled(this.#open.splice(0).map((each) => each.close()));
    for (const each of ended) if (each.status === 'rejected') throw each.reason;
  }
}

/** Opens the folder in which parts are made. What belongs to committed parts goes. */
export async function openScratch(
  files: Disk,
  folder: string,
  isCommitted: (part: number) => boolean,
): Promise<OpenScratch> {
  await files.remove(pathIn(folder, exportPaths.unfinished));
  await dropCommitted(files, folder, isCommitted);
  const open = new ClosingStack();
  try {
    const journal = open.add(await openJournal(files, folder));
    const calls = open.add(await openTally(files, pathIn(folder, exportPaths.callCount)));
    const credits = open.add(await openTally(files, pathIn(folder, exportPaths.creditCount)));
    return { journal, calls, credits, close: () => open.close() };
  } catch (error) {
    await open.close().catch(() => undefined);
    throw error;
  }
}

/** A crash between a commit and the removal of its journal leaves answers that are not needed. */
async function dropCommitted(files: Disk, folder: string, isCommitted: (part: number) => boolean): Promise<void> {
  for (const name of await files.list(pathIn(folder, exportPaths.journals))) {
    const part = journalPart(name);
    if (part !== undefined && isCommitted(part)) await files.remove(pathIn(folder, `${exportPaths.journals}/${name}`));
  }
}
