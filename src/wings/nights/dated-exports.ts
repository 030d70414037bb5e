import { dateWord, isDated, jobOn, topOfNights } from '../../core/job/dated-job.ts';
import path from 'node:path';
import { hasBase } from '../../core/job/job-base.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { isBucketAddress } from '../../lib/addresses/bucket-address.ts';
import { systemClock } from '../../lib/clock.ts';
import { count, plural } from '../../lib/format-text.ts';
import { shownPath } from '../../lib/addresses/shown-path.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import { limitOf } from '../../places/files/limited.ts';
import { lockOwner } from '../../places/files/lock.ts';
import { type HomeContext, openHome, openStoreAt } from '../../core/run/homes/open-home.ts';
import { hasBegun } from '../../places/export/require-export-folder.ts';

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
  const isInBucket = isBucketAddress(job.output.dir);
  for (const day of await daysOf(job, context)) {
    if (day > today) continue;
    const dated = jobOn(job, day);
    const { isComplete, isBegun } = await (isInBucket ? stateInBucket(dated, context) : stateOf(files, dated));
    if (isComplete || day === today) return undefined;
    if (isBegun) return dated;
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
  if (!isDated(job) || hasBase(job) || job.ids.limit !== undefined) return undefined;
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

interface DatedState {
  readonly isComplete: boolean;
  readonly isBegun: boolean;
}

async function stateOf(files: FileStore, { output: { dir } }: Job): Promise<DatedState> {
  const isComplete = (await files.sizeOf(pathIn(dir, exportPaths.manifest))) !== undefined;
  return { isComplete, isBegun: (await hasBegun(files, dir)) || (await lockOwner(dir)) !== undefined };
}

async function stateInBucket(job: Job, context: HomeContext): Promise<DatedState> {
  const home = await openHome(job, context);
  const isComplete = (await home.readManifest()) !== undefined;
  return { isComplete, isBegun: isComplete || (await home.readProgress()) !== undefined };
}

/** The days for which there is something of the pattern, the newest first. */
function daysOf(job: Job, context: HomeContext): Promise<string[]> {
  return isBucketAddress(job.output.dir) ? daysInBucket(job, context) : daysInFolder(context.files, job.output.dir);
}

/** The days of which there are objects, the newest first. Lists the folders, not what is in them. */
async function daysInBucket({ output }: Job, context: HomeContext): Promise<string[]> {
  const top = topOfNights(output.dir);
  const [folder = ''] = output.dir.slice(top.length + 1).split('/');
  const store = await openStoreAt(top, output.endpoint, context);
  const names: string[] = [];
  for await (const name of store.names('')) names.push(name);
  return daysAmong(names, dayPattern(folder, '/$'));
}

/** Matches a name in which each `{date}` is the same day. @param end what follows it */
function dayPattern(pattern: string, end: string): RegExp {
  const [first = '', ...others] = pattern.split(dateWord).map((text) => text.replaceAll(/[^\w-]/g, '\\$&'));
  return new RegExp(`^${first}(\\d{4}-\\d\\d-\\d\\d)${others.join('\\1')}${end}`);
}

/** The days for which there is a folder of the pattern, the newest first. */
async function daysInFolder(files: FileStore, pattern: string): Promise<string[]> {
  const parts = pattern.split(path.sep);
  const at = parts.findIndex((part) => part.includes(dateWord));
  const name = dayPattern(parts[at] ?? '', '$');
  return daysAmong(await files.list(parts.slice(0, at).join(path.sep) || path.sep), name);
}

function daysAmong(names: readonly string[], pattern: RegExp): string[] {
  return names
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .sort()
    .reverse();
}
