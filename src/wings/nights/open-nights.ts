import type { Clock } from '../../lib/clock.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import type { NightsPlace } from './prune-exports.ts';

/** Exports side by side, in a folder or in a bucket. Only what the place needs is loaded. */
export async function nightsAt({ files, folder, store }: ExportPlace, clock: Pick<Clock, 'now'>): Promise<NightsPlace> {
  if (!store.isShared) return (await import('./folder-nights.ts')).folderNights(files, folder);
  return (await import('./bucket-nights.ts')).bucketNights(store, folder, clock);
}
