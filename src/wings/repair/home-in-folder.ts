import { jobOfNothing } from '../../core/run/job-shape.ts';
import type { ExportHome } from '../../core/run/homes/export-home.ts';
import { openHome } from '../../core/run/homes/open-home.ts';
import { systemClock } from '../../lib/clock.ts';
import type { FileStore } from '../../places/files/file-store.ts';

/** The home of an export that is repaired in a folder. */
export function homeInFolder(files: FileStore, folder: string): Promise<ExportHome> {
  return openHome(jobOfNothing(folder), { files, clock: systemClock, random: Math.random });
}
