import { ExportError } from '../../lib/export-error.ts';
import { topOfNights } from '../../core/job/night-names.ts';
import { followerFor, type Following } from '../../core/run/night-follower.ts';
import type { PublishedTables } from '../../core/work/published-tables.ts';
import type { Night } from '../../core/run/nights.ts';
import { type HomeContext, openPlace } from '../../core/run/homes/open-home.ts';
import { intolerable } from '../../core/run/tolerance.ts';
import { nightsAt } from './open-nights.ts';
import { pointLatest } from './point-latest.ts';
import { planPruning, pruneFollowed } from './prune-exports.ts';
import type { CompleteNight } from './survey-nights.ts';

/** A context that may have a lake follow the nights. */
type Followed = HomeContext & Following;

/**
 * What follows a complete export whose run ends with exit 0: the lake has it, `latest` names it, then `output.keep` removes others.
 * After exit 3, or for some of the ids alone, nothing does: readers keep the night before.
 */
export async function afterNight(night: Night, context: Followed): Promise<PublishedTables | undefined> {
  const { job, account } = night;
  if (account.limit !== undefined || intolerable(account, job) !== undefined) return undefined;
  const follower = await followerFor(job, context)?.();
  const published = await follower?.completed(night, context);
  await pointLatest(job, context);
  try {
    await keepNights(night, context);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    const message = `output.keep removed nothing, or not all: ${error.message}`;
    context.listener?.({ kind: 'warning', message });
  }
  return published;
}

/** Removes the nights beside this one that no rule keeps; never this one, and never its base. */
async function keepNights({ job, account, outputDir }: Night, context: Followed): Promise<void> {
  const { keep } = job.output;
  if (keep === undefined) return;
  const top = topOfNights(outputDir);
  const root = { place: await openPlace(top, job.output.endpoint, context), clock: context.clock };
  const place = await nightsAt(root.place, context.clock);
  const spared = ({ name, seals }: CompleteNight): string | undefined => {
    if (job.output.dir.endsWith(`/${name}`)) return 'this export';
    return account.base !== undefined && seals.includes(account.base.seal) ? 'base of this export' : undefined;
  };
  const pruning = await planPruning(place, keep, spared);
  await pruneFollowed(root, { place, pruning }, context);
  const removed = pruning.removed.map(({ name }) => name);
  if (removed.length > 0) context.listener?.({ kind: 'pruned', names: removed, from: top });
}
