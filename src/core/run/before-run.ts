import { requireDayForACall } from '../client/policies/spent-error.ts';
import type { Job } from '../job/job-schema.ts';
import { isBucketAddress } from '../../lib/addresses/bucket-address.ts';
import { ExportError } from '../../lib/export-error.ts';
import { byteSize } from '../../lib/format-text.ts';
import { maxObjectBytes } from '../../places/objects/object-store.ts';
import { largestFileEstimate } from './disk-estimate.ts';

/** @throws {ExportError} `usage` for a job that no run can complete, whatever its ids are */
export function requireRunnable(job: Job): void {
  requireDayForACall(job.budget);
  const error = unputtableParts(job);
  if (error !== undefined) throw error;
}

/** The error of parts whose files a bucket will not take: each is put in one request. Undefined where they fit. */
export function unputtableParts(job: Job): ExportError | undefined {
  const bytes = largestFileEstimate(job);
  if (!isBucketAddress(job.output.dir) || bytes <= maxObjectBytes) return undefined;
  return new ExportError(
    'usage',
    `a file of a part takes about ${byteSize(bytes)}; a bucket takes at most ${byteSize(maxObjectBytes)} a file`,
    { todo: 'Lower output.rowsPerPart (--rows-per-part).', facts: { bytes } },
  );
}
