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

export { maxAgeOf } from './base/ages.ts';
export { AskedAnswers, type AskedRefusal } from './base/asked-answers.ts';
export { askedInputs } from './base/asked-list.ts';
export { assetClasses, type AssetClasses } from './base/asset-classes.ts';
export { BaseKeys, marks } from './base/base-keys.ts';
export { recordsIn } from './base/record-pieces.ts';
export type { Choice } from './base/choose-ids.ts';
export { findFittingBase } from './base/fitting-base.ts';
export { ListedIds } from './base/listed-ids.ts';
export { namesMatching, type OpenBase } from './base/open-base.ts';
export { requireIntact, timeFilesOf, timesOf } from './base/read-base-keys.ts';
export { type Answers, RefreshAsker } from './base/refresh-asker.ts';
export { baseFiles } from './based-export.ts';
export { checkBase, type CheckedBase } from './check-base.ts';
export { shortOfEarlier, unfinishedBefore } from './dated-exports.ts';
export { type NightInOrder, nightsInOrder } from './nights-in-order.ts';
export { nightsAt } from './open-nights.ts';
export { lossesOf, planPruning, pruneFollowed, type Pruning } from './prune-exports.ts';
export { openBasedParts, planRefresh } from './refresh-export.ts';
export { askedJob, requestIds } from './request-ids.ts';
