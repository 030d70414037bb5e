import { documentedIdsPerCall, type Job } from './job-schema.ts';
import { dateWord } from './night-names.ts';
import { fileNameWarning } from '../../lib/addresses/address.ts';

export function isDated({ output }: Job): boolean {
  return output.dir.includes(dateWord);
}

/** The job with the folder of a day (`YYYY-MM-DD`); the same job where its folder holds no `{date}`. */
export function jobOn(job: Job, day: string): Job {
  if (!isDated(job)) return job;
  return { ...job, output: { ...job.output, dir: job.output.dir.replaceAll(dateWord, day) } };
}

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

/** Warnings about allowed but suspicious values. */
export function jobWarnings({ service, output }: Job): string[] {
  const { idsPerCall } = service;
  const likeFile = fileNameWarning(output.dir);
  const warnings = likeFile === undefined ? [] : [likeFile];
  if (idsPerCall <= documentedIdsPerCall) return warnings;
  return [
    ...warnings,
    `service.idsPerCall is ${idsPerCall}, but services accept at most ${documentedIdsPerCall}; larger calls are refused, split and paid again`,
  ];
}

/** What a job reads of its ids: the first so many, or a sample; undefined for all of them. */
export function someIdsOf({ limit, sample }: Pick<Job['ids'], 'limit' | 'sample'>): number | string | undefined {
  return sample ?? limit;
}
