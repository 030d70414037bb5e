import { requireDayForACall } from '../client/policies/with-budget.ts';
import type { Job } from '../job/job-schema.ts';
import { unputtableParts } from './bucket-limits.ts';

/** @throws {ExportError} `usage` for a job that no run can complete, whatever its ids are */
export function requireRunnable(job: Job): void {
  requireDayForACall(job.budget);
  const error = unputtableParts(job);
  if (error !== undefined) throw error;
}
