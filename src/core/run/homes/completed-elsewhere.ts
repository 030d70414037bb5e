import { ExportError } from '../../../lib/export-error.ts';
import type { Manifest } from '../../../places/export/manifest.ts';
import type { ExportHome } from './export-home.ts';

/** Ends of a run that have nothing to do with what lies in the bucket. */
const ownEnds = ['interrupted', 'terminated', 'spent', 'overrun', 'notTrusted'];

/**
 * The manifest that another process put in a bucket while this one failed; undefined where there is none. Who completes an export
 * removes its slices and logs, so a process that comes late finds any of them missing.
 */
export async function completedElsewhere(
  { place, readManifest }: Pick<ExportHome, 'place' | 'readManifest'>,
  error: unknown,
): Promise<Manifest | undefined> {
  if (!place.store.isShared || !(error instanceof ExportError) || ownEnds.includes(error.exit)) return undefined;
  return readManifest().catch(() => undefined);
}
