import type { Job } from '../../core/job/job-schema.ts';
import type { ExportError } from '../../lib/export-error.ts';
import { isDated } from '../../core/job/job-traits.ts';
import type { HomeContext } from '../../core/run/homes/open-home.ts';

/** The unfinished export that a command finishes first, or undefined. Ids from stdin are those of today: no other export can be made of them. */
export async function exportBefore(
  context: Pick<HomeContext, 'files'>,
  job: Job,
  today: string,
): Promise<
  | {
      /** The export to finish first. */
      readonly job?: Job;
      /** Why an unfinished export is left alone. */
      readonly warning?: string;
    }
  | undefined
> {
  if (!isDated(job)) return undefined;
  const { unfinishedBefore } = await import('../../wings/nights/index.ts');
  const unfinished = await unfinishedBefore(context, job, today);
  if (unfinished === undefined) return undefined;
  if (!job.ids.from.includes('-')) return { job: unfinished };
  return { warning: `${unfinished.output.dir} stays unfinished: the ids on stdin are for today's export` };
}

/** The warning about an unfinished export whose job or inputs are others now. */
export function leftAlone(change: ExportError): string {
  return `${change.message}; the earlier export stays unfinished, and today's export starts`;
}
