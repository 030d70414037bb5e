import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import { byteSize } from '../../lib/format-text.ts';
import { type FreeSpace, freeSpace } from '../../lib/disk/free-space.ts';
import { shownPath } from '../../lib/addresses/shown-path.ts';
import type { ExportContext } from './export-context.ts';
import { type DiskCounts, type DiskNeeds, diskNeeds } from './disk-estimate.ts';
import { localFolder } from './homes/local-folder.ts';

/** What an export needs of the disk, and what is free there. */
export interface DiskSpace extends DiskNeeds {
  /** Where the peak is: the folder of the export, or its scratch folder. */
  readonly folder: string;
  readonly free: number;
}

export interface DiskQuestion extends DiskCounts {
  readonly free?: FreeSpace | undefined;
}

export async function diskSpace(job: Job, { free = freeSpace, ...counts }: DiskQuestion): Promise<DiskSpace> {
  const folder = localFolder(job);
  return { ...diskNeeds(job, counts), folder, free: await free(folder) };
}

/** `about 25 MB, up to 102 MB while it runs; 4.12 GB free`. @param most what the peak is: the most, or the least of it */
export function diskText({ finished, peak, free }: Omit<DiskSpace, 'folder'>, most = 'up to'): string {
  return `about ${byteSize(finished)}, ${most} ${byteSize(peak)} while it runs; ${byteSize(free)} free`;
}

/** What to say where the peak does not fit; undefined where it does. */
export function diskShortage(space: DiskSpace): string | undefined {
  const { peak, free, folder } = space;
  if (peak <= free) return undefined;
  const where = shownPath(folder, process.cwd());
  return `the export needs up to about ${byteSize(peak)} of disk while it runs, and ${byteSize(free)} are free in ${where}`;
}

/** Warns at the start of a run whose peak does not fit. What cannot be found out warns of nothing. */
export async function warnOfDisk(
  job: Job,
  question: Omit<DiskQuestion, 'free'>,
  { freeSpace: free, listener }: Pick<ExportContext, 'freeSpace' | 'listener'>,
): Promise<void> {
  const space = await diskSpace(job, { ...question, free }).catch(() => undefined);
  const message = space === undefined ? undefined : diskShortage(space);
  if (message !== undefined) listener({ kind: 'warning', message });
}

/** @throws {ExportError} `cannotWrite` where the peak does not fit */
export function requireSpace(space: DiskSpace): void {
  const message = diskShortage(space);
  if (message === undefined) return;
  throw new ExportError('cannotWrite', message, {
    todo: 'Free disk space, or choose another folder with --out or --scratch. Smaller parts (--rows-per-part) keep fewer answers at a time.',
  });
}
