import { someIdsOf } from '../job/job-traits.ts';
import type { Clock } from '../../lib/clock.ts';
import { bucketAddressOf, parentOf } from '../../lib/addresses/address-kinds.ts';
import { lakeFolder } from '../../places/export/export-folder.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Job } from '../job/job-schema.ts';
import { hasLake } from '../job/output-schema.ts';
import { foldersBelowDate, namedNight } from '../job/night-names.ts';
import type { ExportPlace } from './homes/export-place.ts';
import { type HomeContext, openPlace } from './homes/open-home.ts';
import type { PublishedTables } from '../work/run-observer.ts';

/** Where nights lie side by side. */
export interface NightsRoot {
  readonly place: ExportPlace;
  readonly clock: Pick<Clock, 'now'>;
}

/** What a lake would lose with some nights. */
export interface LakeLoss {
  /** Their days, the oldest first. */
  readonly nights: readonly string[];
  readonly tables: readonly string[];
}

/** A night of a run. */
export interface FollowedNight {
  readonly job: Job;
  /** `output.dir` as the job has it, with `{date}`. */
  readonly outputDir: string;
}

/** What a program gives a run whose nights are to be followed. */
export interface Following {
  /** For `output.lake`, and wherever exports go or change beside which a lake lies. */
  readonly lake?: (() => Promise<NightFollower>) | undefined;
}

/** Tables that follow the nights of a root. */
export interface NightFollower {
  /** Refuses a job that names its nights otherwise than the tables beside them. @throws {ExportError} `usage` */
  requireSamePattern(night: FollowedNight, context: HomeContext): Promise<void>;
  /**
   * Publishes a night whose run ends with exit 0, after the complete ones that are missing before it.
   * @throws {ExportError} `unavailable`, `cannotWrite`: the export is complete, and not in the lake
   */
  completed(night: FollowedNight, context: HomeContext): Promise<PublishedTables>;
  /** What goes from the tables with these exports. @param names relative to the root */
  losses(root: NightsRoot, names: readonly string[]): Promise<LakeLoss | undefined>;
  /** Takes nights out of the tables, removes their exports by `remove`, then what the tables kept of them. */
  removing(root: NightsRoot, names: readonly string[], remove: () => Promise<void>): Promise<void>;
  /** Has the tables name what a repaired export holds now. @param name relative to the root */
  repaired(root: NightsRoot, name: string): Promise<void>;
}

/** Refuses a job that publishes its nights where the program cannot. @throws {ExportError} `usage` */
export function followerFor(job: Job, { lake }: Following): Following['lake'] {
  if (!hasLake(job)) return undefined;
  if (lake !== undefined) return lake;
  throw new ExportError('usage', 'output.lake needs lakes, which this program left out', {
    todo: 'Give the context a member lake.',
  });
}

/** Refuses, before anything is paid for, a job whose nights cannot be published beside those that are there. @throws {ExportError} `usage` */
export async function requireFollowable(night: FollowedNight, context: HomeContext & Following): Promise<void> {
  const { job } = night;
  // The first ids alone are not published.
  const follower = someIdsOf(job.ids) === undefined ? await followerFor(job, context)?.() : undefined;
  await follower?.requireSamePattern(night, context);
}

/** What follows the nights of a root; undefined where nothing does. @throws {ExportError} `usage` where the program has left that out */
export async function followerAt(
  { store, folder }: ExportPlace,
  { lake }: Following,
): Promise<NightFollower | undefined> {
  const names = store.names(`${lakeFolder}/`)[Symbol.asyncIterator]();
  const { done: isNone } = await names.next();
  await names.return?.();
  if (isNone === true) return undefined;
  if (lake !== undefined) return lake();
  throw new ExportError('usage', `${folder} has a lake, and this program left lakes out`, {
    todo: 'Give the context a member lake.',
  });
}

/** Throws an export away, and before that takes it out of the tables that follow it. */
export async function throwAwayFollowed(
  { job, outputDir }: FollowedNight,
  context: HomeContext & Following,
  throwAway: () => Promise<void>,
): Promise<void> {
  const night = namedNight(outputDir, job.output.dir);
  if (night === undefined) return throwAway();
  const place = await openPlace(night.root, job.output.endpoint, context);
  const follower = await followerAt(place, context);
  if (follower === undefined) return throwAway();
  return follower.removing({ place, clock: context.clock }, [nameIn(night.root, job.output.dir)], throwAway);
}

/** Has the tables beside an export follow its repair. @returns why they do not; the export is repaired all the same */
export async function followRepair(
  repaired: { readonly folder: string; readonly endpoint: string | undefined },
  context: HomeContext & Following,
): Promise<ExportError | undefined> {
  try {
    await tellRepaired(repaired, context);
    return undefined;
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    const { exit, todo = 'Fix the cause, then run the same command again.', facts } = error;
    const message = `${repaired.folder} is repaired, and its lake is not: ${error.message}`;
    return new ExportError(exit, message, { todo, facts, cause: error });
  }
}

async function tellRepaired(
  { folder, endpoint }: { readonly folder: string; readonly endpoint: string | undefined },
  context: HomeContext & Following,
): Promise<void> {
  let top = folder;
  for (let depth = 0; depth < foldersBelowDate && hasParent(top); depth += 1) {
    top = parentOf(top);
    const place = await openPlace(top, endpoint, context);
    const follower = await followerAt(place, context);
    if (follower !== undefined) return follower.repaired({ place, clock: context.clock }, nameIn(top, folder));
  }
}

/** Whether there is a folder above it; of a bucket, within the bucket. */
function hasParent(folder: string): boolean {
  return parentOf(folder) !== folder && bucketAddressOf(folder)?.path !== '';
}

/** The name of an export, relative to the folder of the nights. */
function nameIn(top: string, folder: string): string {
  return folder.slice(top.length).replace(/^\/+|\/+$/g, '');
}
