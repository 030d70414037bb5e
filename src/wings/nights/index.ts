import type { Nights } from '../../core/run/nights.ts';
import { afterNight } from './after-night.ts';
import { baseFor } from './based-export.ts';
import { shortOfEarlier } from './dated-exports.ts';
import { requireLatestFree } from './point-latest.ts';

/** What a run takes from this wing. Planning reads a base, and is loaded when it is asked for. */
export const nights: Nights = {
  base: baseFor,
  plan: async (job, standing) => (await import('./planned-base.ts')).plannedBase(job, standing),
  requireLatestFree,
  shortOfEarlier,
  after: afterNight,
};
