import { basename } from 'node:path';
import type { Job } from '../../core/job/job-schema.ts';

/** What an export is called in metrics, notifications and lineage. */
export function runName({ metrics, output }: Pick<Job, 'metrics' | 'output'>): string {
  return metrics.name ?? basename(output.dir);
}
