import { mostIdsPerCall } from '../job/job-dialect.ts';
import { Brake } from '../client/policies/brake.ts';
import { overrunOf } from '../client/policies/overrun.ts';
import type { Job } from '../job/job-schema.ts';
import type { ExportContext } from './export-context.ts';

type Brakeable = Pick<ExportContext, 'brake'>;

/** A context in which calls are counted. */
export type Braked<Context extends Brakeable> = Context & { readonly brake: Brake };

/** Has the calls of a run counted, unless its caller counts those of several runs. */
export function braked<Context extends Brakeable>(context: Context, { budget }: Pick<Job, 'budget'>): Braked<Context> {
  return { ...context, brake: context.brake ?? newBrake(budget) };
}

export function newBrake({ overrun }: Pick<Job['budget'], 'overrun'>): Brake {
  return new Brake({ overrun: overrunOf(overrun) });
}

/**
 * Says what ids are worth that are requested from now on, as far as it is known now.
 * @param cap most ids a call, as an earlier run of the export found out
 */
export async function beginPlan(
  { brake, pace }: Pick<ExportContext, 'brake' | 'pace'>,
  job: Pick<Job, 'service'>,
  cap = Number.POSITIVE_INFINITY,
): Promise<void> {
  const { idsPerCall } = job.service;
  brake?.begin({
    idsPerCall,
    cap: Math.min(idsPerCall, mostIdsPerCall(job, [cap, await pace?.idsPerCall()]) ?? idsPerCall),
  });
}
