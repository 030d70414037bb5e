import type { Entries } from '../ids/entries.ts';
import type { PreparedInputs } from '../ids/prepare-inputs.ts';
import { isDated } from '../job/job-traits.ts';
import { hasBase } from '../job/night-names.ts';
import type { Job } from '../job/job-schema.ts';
import { hasLake } from '../job/output-schema.ts';
import { ExportError } from '../../lib/export-error.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportStart } from '../../places/export/export-facts.ts';
import type { ExportAccount, ExportOutcome } from './export-outcome.ts';
import type { BegunExport, PreparedAnswers, Run } from './export-slices.ts';
import type { ExportContext } from './export-context.ts';
import type { ExportHome, ExportProgress } from './homes/export-home.ts';
import type { ExportPlace } from './homes/export-place.ts';
import type { HomeContext } from './homes/open-home.ts';
import type { FollowedNight, Following } from './night-follower.ts';
import type { PublishedTables } from '../work/run-observer.ts';

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
