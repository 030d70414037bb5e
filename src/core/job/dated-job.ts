import type { Job } from './job-schema.ts';
import { dateWord } from './night-names.ts';

export function isDated({ output }: Job): boolean {
  return output.dir.includes(dateWord);
}

/** The job with the folder of a day (`YYYY-MM-DD`); the same job where its folder holds no `{date}`. */
export function jobOn(job: Job, day: string): Job {
  if (!isDated(job)) return job;
  return { ...job, output: { ...job.output, dir: job.output.dir.replaceAll(dateWord, day) } };
}
