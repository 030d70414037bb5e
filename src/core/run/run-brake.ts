import { plannedSize } from '../job/job-dialect.ts';
import { Brake } from '../client/policies/brake.ts';
import { overrunOf } from '../client/policies/shared-pace.ts';
import type { Job } from '../job/job-schema.ts';
import type { ExportContext } from './export-context.ts';

/** A context in which calls are counted. */
export type Braked<Context extends Pick<ExportContext, 'brake'>> = Context & { readonly brake: Brake };

/** Has the calls of a run counted, unless its caller counts those of several runs. */
export function braked<Context extends Pick<ExportContext, 'brake'>>(
  context: Context,
  { budget }: Pick<Job, 'budget'>,
): Braked<Context> {
  return { ...context, brake: context.brake ?? newBrake(budget) };
}

export function newBrake({ overrun }: Pick<Job['budget'], 'overrun'>): Brake {
  return new Brake({ overrun: overrunOf(overrun) });
}

/**
 * Plans the calls of ids that are requested from now on: by the job's size, or the dialect's where that is smaller.
 * @param planned calls that they take, as far as they were counted
 */
export function beginPlan({ brake }: Pick<ExportContext, 'brake'>, job: Pick<Job, 'service'>, planned?: number): void {
  brake?.begin({ idsPerCall: plannedSize(job), planned });
}
