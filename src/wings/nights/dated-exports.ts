import { isDated, jobOn, someIdsOf, type Job } from '../../core/job/job-schema.ts';
import { dayPattern, topOfNights, hasBase } from '../../core/job/night-names.ts';
import { systemClock } from '../../lib/clock.ts';
import { count, plural } from '../../lib/format-text.ts';
import { shownPath } from '../../lib/addresses/shown-text.ts';
import { exportPaths } from '../../places/export/export-folder.ts';
import { limitOf } from '../../places/export/export-facts.ts';
import { lockOwner } from '../../places/files/lock.ts';
import { type HomeContext, openHome, openPlace, hasBegun } from '../../core/run/homes/open-home.ts';

/**
 * The export that is to be finished before the one of `today` begins: the newest of the pattern, where it is unfinished. Older ones are left
 * alone.
 */
export async function unfinishedBefore(
  { files, openStore }: Pick<HomeContext, 'files' | 'openStore'>,
  job: Job,
  today: string,
): Promise<Job | undefined> {
  const context = { files, openStore, clock: systemClock, random: Math.random };
  for (const day of await daysOf(job, context)) {
    if (day > today) continue;
    const dated = jobOn(job, day);
    const state = await stateOf(dated, context);
    if (state === 'complete' || day === today) return undefined;
    if (state === 'begun') return dated;
  }
  return undefined;
}

/**
 * Said where a pattern without a base has an earlier complete export of more than twice as many ids; undefined otherwise.
 * @param read entries of the export of `today`
 */
export async function shortOfEarlier(
  job: Job,
  { files, openStore }: Pick<HomeContext, 'files' | 'openStore'>,
  { read, today }: { readonly read: number; readonly today: string },
): Promise<string | undefined> {
  if (!isDated(job) || hasBase(job) || someIdsOf(job.ids) !== undefined) return undefined;
  const context = { files, openStore, clock: systemClock, random: Math.random };
  for (const day of await daysOf(job, context)) {
    if (day >= today) continue;
    const home = await openHome(jobOn(job, day), context);
    const manifest = await home.readManifest().catch(() => undefined);
    if (manifest === undefined || limitOf(manifest.job) !== undefined) continue;
    const before = manifest.counts.read;
    if (2 * read >= before) return undefined;
    return `only ${plural(read, 'id')} were read; ${shownPath(home.name, process.cwd())} has ${count(before)}. Is the id list whole?`;
  }
  return undefined;
}

/** How the export of a day stands. An unfinished one of a version that this one cannot finish is one that has begun. */
async function stateOf(job: Job, context: HomeContext): Promise<'complete' | 'begun' | undefined> {
  const { place } = await openHome(job, context);
  if ((await place.store.look(exportPaths.manifest)) !== undefined) return 'complete';
  if (await hasBegun(place)) return 'begun';
  return !place.store.isShared && (await lockOwner(place.folder)) !== undefined ? 'begun' : undefined;
}

/** The days for which there is something of the pattern, the newest first. Lists the folders, not what is in them. */
async function daysOf({ output }: Job, context: HomeContext): Promise<string[]> {
  const top = topOfNights(output.dir);
  const [folder = ''] = output.dir.slice(top.length).replace(/^\//, '').split('/');
  const { store } = await openPlace(top, output.endpoint, context);
  const pattern = dayPattern(folder);
  const days: string[] = [];
  for await (const name of store.names('')) {
    const [, day] = name.endsWith('/') ? (pattern.exec(name.slice(0, -1)) ?? []) : [];
    if (day !== undefined) days.push(day);
  }
  return days.sort().reverse();
}
