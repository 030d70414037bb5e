import { asksAlone } from '../../core/job/job-dialect.ts';
import { Brake } from '../../core/client/policies/brake.ts';
import { fixedOverrun, overrunOf, overrunOfWorker } from '../../core/client/policies/overrun.ts';
import type { SharedPace } from '../../core/client/policies/shared-pace.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { sha256 } from '../../lib/hash/sha256.ts';
import type { EnqueuedStart } from './whole-export.ts';

export interface FleetToBrake {
  readonly job: Job;
  readonly address: string;
  readonly start: EnqueuedStart;
  /** Of workers that share no database, so many make the export. */
  readonly workers: number;
  /** Of workers that share one. */
  readonly pace: SharedPace | undefined;
}

/**
 * Counts the calls of a worker: together with those of all others and of earlier runs where a database is shared, else
 * within its part of the overrun.
 */
export function fleetBrake({ job, address, start, workers, pace }: FleetToBrake): Brake {
  const overrun = overrunOf(job.budget.overrun);
  const mostPlanned = callsOf(start, job);
  if (pace === undefined) return new Brake({ overrun: overrunOfWorker(fixedOverrun(overrun, mostPlanned), workers) });
  // An export that is started over has sums of its own.
  const name = `${sha256(`${job.output.endpoint ?? ''} ${address}`).slice(0, 16)}-${start.startedAtMs}`;
  return new Brake({ overrun, fleet: { export: name, mostPlanned } });
}

/** Calls that the whole export is worth, single calls included. */
function callsOf({ slices }: EnqueuedStart, job: Job): number {
  const hasSingles = asksAlone(job);
  return slices.reduce((sum, { calls, valid }) => sum + calls + (hasSingles ? valid : 0), 0);
}
