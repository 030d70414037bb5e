import type { Job } from '../../job/job-schema.ts';
import type { ExportAccount } from '../export-outcome.ts';
import type { HomeContext } from '../homes/open-home.ts';
import { intolerable } from '../tolerance.ts';
import { pointLatest } from './point-latest.ts';

/** What follows a complete export whose run ends with exit 0. After exit 3 nothing does: readers of `latest` keep the night before. */
export async function afterNight(job: Job, account: ExportAccount, context: HomeContext): Promise<void> {
  if (intolerable(account, job) !== undefined) return;
  await pointLatest(job, context);
}
