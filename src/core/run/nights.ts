import type { Entries } from '../ids/entries.ts';
import type { PreparedInputs } from '../ids/prepare-inputs.ts';
import { isDated, someIdsOf, type Job } from '../job/job-schema.ts';
import { hasBase, foldersBelowDate, namedNight } from '../job/night-names.ts';
import { hasLake } from '../job/output-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportStart } from '../../places/export/export-facts.ts';
import type { ExportAccount, ExportOutcome } from './complete-export.ts';
import type { BegunExport, PreparedAnswers, Run } from './export-slices.ts';
import type { ExportContext } from './export-context.ts';
import type { ExportHome, ExportProgress } from './homes/export-home.ts';
import type { ExportPlace } from './homes/export-place.ts';
import { type HomeContext, openPlace } from './homes/open-home.ts';
import type { PublishedTables, TableQuality } from '../work/run-observer.ts';
import type { Clock } from '../../lib/clock.ts';
import { bucketAddressOf, parentOf } from '../../lib/addresses/address-kinds.ts';
import { lakeFolder } from '../../places/export/export-folder.ts';

/** Exports that follow one another: each takes rows from the one before it, and `latest` names the newest. */
export interface Nights {
  /** The base that an export began with, or the one that it begins with now. @throws {ExportError} `input`, `usage`, `damaged` */
  base(job: Job, context: HomeContext, begun: Pick<ExportStart, 'base'> | undefined): Promise<ExportBase | undefined>;
  /** Chooses as a run would, from the base that it would take; undefined without one. */
  plan(job: Job, standing: PlanStanding): Promise<PlannedRefresh | undefined>;
  /** Refuses what lies where `latest` belongs and is not one. @throws {ExportError} `usage` */
  requireLatestFree(job: Job, context: HomeContext): Promise<void>;
  /** Said where a pattern without a base has an earlier complete export of more than twice as many ids. */
  shortOfEarlier(job: Job, context: HomeContext, now: { read: number; today: string }): Promise<string | undefined>;
  /**
   * Has the lake hold a complete export whose run ends with exit 0, then `latest` name it.
   * @returns the tables of the lake, where the job has one
   */
  publish(night: Night, context: HomeContext & Following): Promise<PublishedTables | undefined>;
  /** Has `output.keep` remove others, once no process holds the export: it counts as one of those that are kept. */
  keep(night: Night, context: HomeContext & Following): Promise<void>;
  /** The nights that `keep` would remove after a run. @param base that of the export */
  removable(night: FollowedNight, base: { readonly seal: string } | undefined, context: HomeContext): Promise<string[]>;
}

/** An export that rows are taken from, as it was when the export that takes them began. */
export interface ExportBase {
  readonly pinned: NonNullable<ExportStart['base']>;
  /** What is requested before the parts are made. */
  answersFor(based: BasedExport): PreparedAnswers;
}

/** An export with a base that a run has opened. */
export interface BasedExport extends Pick<Run, 'job' | 'home'>, Pick<BegunExport, 'open' | 'progress'> {
  readonly inputs: PreparedInputs;
  readonly reading: Reading;
}

/** How ids are read: an export with a base knows repeated ones by its table. */
export interface Reading {
  entries: () => AsyncIterable<Entries>;
}

/** A complete export, and the nights beside it. */
export interface Night {
  readonly job: Job;
  readonly account: ExportAccount;
  /** `output.dir` as the job has it, with `{date}`: other nights lie beside this one. */
  readonly outputDir: string;
}

export interface PlanStanding {
  readonly prepared: PreparedInputs;
  readonly home: ExportHome;
  readonly progress: ExportProgress | undefined;
  readonly nowMs: number;
  readonly context: HomeContext;
}

export interface PlannedBase {
  readonly folder: string;
  /** Rows of the base. */
  readonly rows: number;
  readonly asked: NonNullable<Manifest['base']>['asked'];
  /** Fresh rows that fill the last call up, of `asked.stale`. */
  readonly filledUp: number;
  readonly carried: number;
  readonly overdue: number;
  readonly stillMissing: number;
  /** Rows of the base whose ids are not listed now. */
  readonly unlisted: number;
  /** By class: the rows of the base in it, and those that are requested. */
  readonly classes: readonly {
    readonly when: readonly string[];
    readonly rows: number;
    readonly asked: number;
  }[];
  /** Credits of an export without a base. */
  readonly creditsForAll: number;
  /** Memory of the table of ids. */
  readonly memoryBytes: number;
}

export interface PlannedRefresh {
  readonly planned: Omit<PlannedBase, 'creditsForAll'>;
  readonly calls: number;
  readonly asked: number;
  readonly sent: number;
  /** Of the base. */
  readonly seal: string;
  readonly warnings: readonly string[];
}

/** What a run has follow its export, once that is complete. For any other outcome, nothing. */
export interface AfterComplete {
  /**
   * Where it fails, the export stays complete: the error is part of the outcome, so that the account can be reported with it. The record of
   * an export that was complete before gets the verdict too.
   */
  readonly publish: (outcome: ExportOutcome) => Promise<ExportOutcome>;
  /** After `publish`. A removal that fails is a warning. */
  readonly keep: (outcome: ExportOutcome) => Promise<void>;
}

export function afterComplete(
  nights: Nights | undefined,
  { job, outputDir, place }: Omit<Night, 'account'> & { readonly place: ExportPlace },
  context: HomeContext & Following & Pick<ExportContext, 'listener'>,
): AfterComplete {
  const published = async (outcome: ExportOutcome): Promise<ExportOutcome> => {
    try {
      const lake = await nights?.publish({ job, outputDir, account: outcome.account }, context);
      return lake === undefined ? outcome : { ...outcome, lake };
    } catch (error) {
      if (error instanceof ExportError) return { ...outcome, error };
      throw error;
    }
  };
  return {
    publish: async (outcome) => {
      if (outcome.state === 'unfinished') return outcome;
      const ended = await published(outcome);
      if (ended.state === 'already') {
        const { recordVerdict } = await import('./record-verdict.ts');
        await recordVerdict({ place, job }, ended, context);
      }
      return ended;
    },
    keep: async ({ state, account, error }) => {
      if (state !== 'unfinished' && error === undefined) await nights?.keep({ job, outputDir, account }, context);
    },
  };
}

/** What a job needs of nights; undefined where it needs nothing. @throws {ExportError} `usage` where the program has none */
export async function nightsFor(job: Job, open: (() => Promise<Nights>) | undefined): Promise<Nights | undefined> {
  const { latest, keep } = job.output;
  const needs = [
    hasBase(job) && 'base.from',
    isDated(job) && '{date} in output.dir',
    latest && 'output.latest',
    keep !== undefined && 'output.keep',
    hasLake(job) && 'output.lake',
  ].find((name) => name !== false);
  if (needs === undefined) return undefined;
  if (open !== undefined) return open();
  throw new ExportError('usage', `${needs} needs nights, which this program left out`, {
    todo: 'Give the context a member nights.',
  });
}

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

/** What a job may ask for beyond the way of an id. Loaded for such jobs alone; `src/world/wings.ts` has all of them. */
export interface RunWings extends Following {
  /** For exports with a base or a date, and for `output.latest` and `output.keep`. */
  readonly nights?: (() => Promise<Nights>) | undefined;
  /** For `output.report`. */
  readonly report?: (() => Promise<ReportRun>) | undefined;
}

/** What writes the report of a job that wants one; undefined for another job. @throws {ExportError} `usage` where the program has none */
export function reportFor({ output }: Pick<Job, 'output'>, { report }: RunWings): RunWings['report'] {
  if (!output.report) return undefined;
  if (report !== undefined) return report;
  throw new ExportError('usage', 'output.report needs reports, which this program left out', {
    todo: 'Give the context a member report.',
  });
}

/**
 * Writes the report of a run that ended, and gives what it counted in the tables; undefined where it counted nothing. A report that
 * fails changes no outcome.
 */
export type ReportRun = (
  place: ExportPlace,
  context: Pick<ExportContext, 'clock' | 'version' | 'listener'> & Partial<Pick<ExportContext, 'stop' | 'abort'>>,
) => Promise<readonly TableQuality[] | undefined>;
