import { hasBase, noBase } from '../../core/job/night-names.ts';
import { type Job, isDated } from '../../core/job/job-schema.ts';
import { bucketExamples, isBucketAddress } from '../../lib/addresses/address-kinds.ts';
import { ExportError } from '../../lib/export-error.ts';

/** Workers share one export, whichever machine and day they run on. @throws {ExportError} `usage` */
export function requireFleetHome(job: Job, command: string): void {
  if (!isBucketAddress(job.output.dir)) {
    throw new ExportError('usage', `${command} works on an export in a bucket, and output.dir is a folder`, {
      todo: `Set output.dir (or --out) to ${bucketExamples}, or use asset-export run.`,
    });
  }
  if (job.ids.sample !== undefined)
    throw new ExportError('usage', `${command} takes no --sample`, { todo: 'Use asset-export run, or leave it out.' });
  if (hasBase(job) && job.base.from !== noBase) {
    throw new ExportError('usage', `${command} cannot make an export that is based on another one`, {
      todo: 'Use asset-export run, or --base none.',
    });
  }
  if (isDated(job)) {
    throw new ExportError('usage', `${command} does not take {date} in output.dir: workers may start on another day`, {
      todo: 'Name the day with --out, for example --out s3://bucket/nights/2026-01-31.',
    });
  }
}
