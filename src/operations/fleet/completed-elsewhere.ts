import { ExportError } from '../../lib/export-error.ts';
import type { Manifest } from '../../store/manifest.ts';
import { bucketHome } from '../homes/bucket-home.ts';
import type { BucketPlace } from '../homes/bucket-place.ts';

/** Ends of a worker that have nothing to do with what lies in the bucket. */
const ownEnds = ['interrupted', 'terminated', 'spent', 'overrun', 'notTrusted'];

/**
 * The manifest that another worker put while this one failed. Who completes an export removes its slices and logs, so a worker
 * that comes late finds any of them missing.
 */
export async function completedElsewhere(place: BucketPlace, error: unknown): Promise<Manifest | undefined> {
  if (!(error instanceof ExportError) || ownEnds.includes(error.exit)) return undefined;
  return bucketHome(place)
    .readManifest()
    .catch(() => undefined);
}
