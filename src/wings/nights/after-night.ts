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

/** Whether anything follows. After exit 3, or for some of the ids alone, nothing does: readers keep the night before. */
function isFollowed({ job, account }: Night): boolean {
  return account.limit === undefined && intolerable(account, job) === undefined;
}

/** The lake has it, then `latest` names it. */
export async function publishComplete(night: Night, context: Followed): Promise<PublishedTables | undefined> {
  if (!isFollowed(night)) return undefined;
  const follower = await followerFor(night.job, context)?.();
  const published = await follower?.completed(night, context);
  await pointLatest(night.job, context);
  return published;
}

/** Removes the nights beside a complete one that no rule keeps. A removal that fails changes no outcome. */
export async function keepNights(night: Night, context: Followed): Promise<void> {
  if (!isFollowed(night)) return;
  try {
    await removeOthers(night, context);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    const message = `output.keep removed nothing, or not all: ${error.message}`;
    context.listener?.({ kind: 'warning', message });
  }
}

/** Never this one, and never its base. */
async function removeOthers({ job, account, outputDir }: Night, context: Followed): Promise<void> {
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
