import type { Nights } from '../../core/run/nights.ts';
import { keepNights, publishComplete, removable } from './after-night.ts';
import { baseFor } from './based-export.ts';
import { shortOfEarlier } from './dated-exports.ts';
import { requireLatestFree } from './point-latest.ts';

/** What a run takes from this wing. Planning reads a base, and is loaded when it is asked for. */
export const nights: Nights = {
  base: baseFor,
  plan: async (job, standing) => (await import('./planned-base.ts')).plannedBase(job, standing),
  requireLatestFree,
  shortOfEarlier,
  publish: publishComplete,
  keep: keepNights,
  removable,
};

export { recordsIn } from './base/record-pieces.ts';
export { namesMatching, type OpenBase } from './base/open-base.ts';
export { requireIntact, timeFilesOf, timesOf } from './base/read-base-keys.ts';
export { checkBase, type CheckedBase } from './check-base.ts';
export { shortOfEarlier, unfinishedBefore } from './dated-exports.ts';
export { type NightInOrder, nightsInOrder } from './nights-in-order.ts';
export { nightsAt } from './open-nights.ts';
export { lossesOf, planPruning, pruneFollowed, type Pruning } from './prune-exports.ts';
