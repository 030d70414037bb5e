import type { Job } from './job-schema.ts';

/** Whether runs of a job are followed by more than their progress. */
export function isFollowed(job: Pick<Job, 'metrics' | 'notify' | 'lineage'>, environment: NodeJS.ProcessEnv): boolean {
  return hasMetrics(job) || job.notify.length > 0 || mayHaveLineage(job, environment);
}

export function hasMetrics({ metrics: { listen, file } }: Pick<Job, 'metrics'>): boolean {
  return listen !== undefined || file !== undefined;
}

/** The environment may name who takes lineage for all jobs. */
export function mayHaveLineage({ lineage: { url } }: Pick<Job, 'lineage'>, environment: NodeJS.ProcessEnv): boolean {
  return url !== undefined || (environment['OPENLINEAGE_URL'] ?? '') !== '';
}
