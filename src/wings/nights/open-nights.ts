import type { Clock } from '../../lib/clock.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import type { NightsPlace } from './prune-exports.ts';

/** Exports side by side, in a folder or in a bucket. Only what the place needs is loaded. */
export async function nightsAt({ disk, folder, store }: ExportPlace, clock: Pick<Clock, 'now'>): Promise<NightsPlace> {
  if (disk !== undefined) return (await import('./folder-nights.ts')).folderNights(disk, folder);
  return (await import('./bucket-nights.ts')).bucketNights(store, folder, clock);
}
