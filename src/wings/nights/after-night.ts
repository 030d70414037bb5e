import { someIdsOf } from '../../core/job/job-schema.ts';
import { utcDay } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { namedNight } from '../../core/job/night-names.ts';
import { type FollowedNight, followerFor, type Following, type Night } from '../../core/run/nights.ts';
import type { PublishedTables } from '../../core/work/run-observer.ts';
import { type HomeContext, openPlace } from '../../core/run/homes/open-home.ts';
import { intolerable } from '../../core/run/tolerance.ts';
import { nightsAt } from './open-nights.ts';
import { pointLatest } from './point-latest.ts';
import { removedNames, planPruning, pruneFollowed } from './prune-exports.ts';
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

async function removeOthers(night: Night, context: Followed): Promise<void> {
  const planned = await planKeeping(night, night.account.base, context);
  if (planned === undefined) return;
  const { root } = planned;
  await pruneFollowed(root, planned, context);
  const removed = planned.pruning.removed.map(({ name }) => name);
  if (removed.length > 0) context.listener?.({ kind: 'pruned', names: removed, from: root.place.folder });
}

/** The nights that `output.keep` removes after a run. @param base of the export, where that is known */
export async function removable(
  night: FollowedNight,
  base: { readonly seal: string } | undefined,
  context: HomeContext,
): Promise<string[]> {
  try {
    const planned = await planKeeping(night, base, context);
    return planned === undefined ? [] : removedNames(planned.pruning);
  } catch (error) {
    // There is no folder of nights yet, or the run would remove nothing either.
    if (error instanceof ExportError) return [];
    throw error;
  }
}

/** Nights of the job's own pattern, except this one and its base. */
async function planKeeping(
  { job, outputDir }: FollowedNight,
  base: { readonly seal: string } | undefined,
  context: HomeContext,
) {
  const own = namedNight(outputDir, job.output.dir);
  if (job.output.keep === undefined || someIdsOf(job.ids) !== undefined || own === undefined) return undefined;
  const root = { place: await openPlace(own.root, job.output.endpoint, context), clock: context.clock };
  const place = await nightsAt(root.place, context.clock);
  // A clock that was set back meanwhile makes no night one of the future.
  const today = [utcDay(context.clock.now()), own.day].sort().at(-1) ?? own.day;
  const isBase = ({ seals }: CompleteNight): boolean => base !== undefined && seals.includes(base.seal);
  return { root, place, pruning: await planPruning(place, job.output.keep, { today, own, isBase }) };
}
