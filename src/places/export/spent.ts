import type { FileStore } from '../files/file-store.ts';
import { readTally } from '../scratch/tally.ts';
import { exportPaths, pathIn } from './export-folder.ts';

/** Calls sent, and credits that these may have cost, over all runs of an export. */
export interface Spent {
  readonly calls: number;
  readonly credits: number;
}

/** What the runs of an export in a folder spent so far. */
export async function spentIn(files: FileStore, folder: string): Promise<Spent> {
  const calls = await readTally(files, pathIn(folder, exportPaths.callCount));
  const credits = await readTally(files, pathIn(folder, exportPaths.creditCount));
  return { calls, credits };
}

export function sumOfSpent(one: Spent, other: Spent): Spent {
  return { calls: one.calls + other.calls, credits: one.credits + other.credits };
}
