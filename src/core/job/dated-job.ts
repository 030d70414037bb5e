import { parentOf } from '../../lib/addresses/bucket-address.ts';
import type { Job } from './job-schema.ts';

/** Stands in `output.dir` for the UTC day on which an export begins. */
export const dateWord = '{date}';

export function isDated({ output }: Job): boolean {
  return output.dir.includes(dateWord);
}

/** The folder that holds the nights of a pattern: all before the last `/` in front of `{date}`. */
export function topOfNights(pattern: string): string {
  const at = pattern.indexOf(dateWord);
  return at < 0 ? parentOf(pattern) : pattern.slice(0, Math.max(1, pattern.lastIndexOf('/', at)));
}

/** The job with the folder of a day (`YYYY-MM-DD`); the same job where its folder holds no `{date}`. */
export function jobOn(job: Job, day: string): Job {
  if (!isDated(job)) return job;
  return { ...job, output: { ...job.output, dir: job.output.dir.replaceAll(dateWord, day) } };
}
