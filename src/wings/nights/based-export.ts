import type { FilesAt, OpenBase } from './base/open-base.ts';
import type { Entries } from '../../core/ids/entries.ts';
import type { CustomSink } from '../../core/formats/custom-sink.ts';
import type { PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { isBucketAddress } from '../../lib/addresses/bucket-address.ts';
import type { ExportStart } from '../../places/scratch/checkpoint.ts';
import { type Spent, sumOfSpent } from '../../places/export/export-standing.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { markDuplicates } from '../../core/ids/mark-duplicates.ts';
import { countedIds, type ReadProgress } from '../../core/work/read-job-ids.ts';
import type { ExportContext } from '../../core/work/export-context.ts';
import type { RunListener } from '../../core/work/run-events.ts';
import type { PreparedAnswers, SpentNow } from '../../core/run/export-slices.ts';
import type { ExportHome, OpenExport } from '../../core/run/homes/export-home.ts';
import { warnOfDisk } from '../../core/run/disk-space.ts';
import { type HomeContext, openStoreAt } from '../../core/run/homes/open-home.ts';
import { requireSame } from '../../core/run/job-shape.ts';
import { baseAccount } from './base-account.ts';
import type { OpenRefresh } from './refresh-export.ts';

/** How ids are read: an export with a base knows repeated ones by its table. */
export interface Reading {
  entries: () => AsyncIterable<Entries>;
}

export interface BasedExport {
  readonly job: Job;
  readonly base: OpenBase;
  readonly home: ExportHome;
  readonly prepared: PreparedInputs;
  readonly open: OpenExport;
  readonly progress: ReadProgress;
  readonly reading: Reading;
  readonly sinks: readonly CustomSink[];
}

/** What reads finished exports is loaded for exports with a base alone. */
export async function newBase(job: Job, context: HomeContext): Promise<OpenBase | undefined> {
  if (job.base.from === undefined) return undefined;
  const { findBase } = await import('./base/open-base.ts');
  return findBase(baseFiles(job, context), job);
}

/** Opens the place of a base. The endpoint of the output is that of a base in an S3-compatible store too. */
export function baseFiles({ output }: Job, context: HomeContext): FilesAt {
  return async (folder) => {
    if (!isBucketAddress(folder)) return context.files;
    const { bucketFiles } = await import('../../places/export/bucket-files.ts');
    const endpoint = folder.startsWith('s3://') ? output.endpoint : undefined;
    return bucketFiles(await openStoreAt(folder, endpoint, context), folder);
  };
}

/** The base that the export began with, or the one that it begins with now. */
export async function baseOf(
  job: Job,
  { home, context }: { readonly home: ExportHome; readonly context: HomeContext },
  now: Pick<ExportStart, 'job' | 'inputs'>,
): Promise<OpenBase | undefined> {
  if (job.base.from === undefined) return undefined;
  const begun = (await home.readProgress())?.start;
  if (begun === undefined) return newBase(job, context);
  requireSame(home.name, begun, now);
  return keptBase(job, begun, context);
}

/** The base that an export began with; undefined where it began without one. */
export async function keptBase(
  job: Job,
  { base }: Pick<ExportStart, 'base'>,
  context: HomeContext,
): Promise<OpenBase | undefined> {
  if (base === undefined) return undefined;
  const { reopenBase } = await import('./base/open-base.ts');
  return reopenBase(baseFiles(job, context), base, job);
}

/** Requests what an export with a base has to request, before its parts are made from that and the base. */
export class BasedAnswers implements PreparedAnswers {
  readonly #based: BasedExport;
  #spent: Spent = { calls: 0, credits: 0 };
  #refresh: OpenRefresh | undefined;

  constructor(based: BasedExport) {
    this.#based = based;
  }

  spent(): Spent {
    return sumOfSpent(this.#based.open.spent(), this.#spent);
  }

  async explained(error: unknown): Promise<unknown> {
    const { explainedByBase } = await import('./base/open-base.ts');
    return explainedByBase(error, this.#based.base);
  }

  /** What the manifest says of the base, when all parts are made. */
  account(): Pick<Manifest, 'base'> {
    const { base, open } = this.#based;
    return this.#refresh === undefined ? {} : { base: baseAccount(base, this.#refresh, open.commits()) };
  }

  async open(spentNow: SpentNow, context: ExportContext): Promise<OpenRefresh> {
    const { job, base, open, home, prepared, progress, reading, sinks } = this.#based;
    const { files, listener } = context;
    const { openRefresh } = await import('./refresh-export.ts');
    const read = (seen: ReturnType<OpenRefresh['seen']>, told: RunListener): AsyncIterable<Entries> =>
      markDuplicates(countedIds(job, prepared, restarted(progress), told), seen);
    const refresh = await openRefresh({
      job,
      base,
      sinks,
      files,
      folder: home.scratch,
      startedAtMs: open.start.startedAtMs,
      entries: (seen) => read(seen, () => undefined),
      committed: new Set(open.commits().map(({ part }) => part)),
      request: async (idsPath) => {
        const { requestIds } = await import('./request-ids.ts');
        const onSpent = (spent: Spent): void => {
          this.#spent = spent;
        };
        return requestIds({ job, home, idsPath, onSpent }, spentNow, context);
      },
      onWarning: (message) => {
        listener({ kind: 'warning', message });
      },
      onChosen: ({ carried, total }) =>
        warnOfDisk(job, { assets: carried + total, entries: progress.entries, asked: total }, context),
    });
    this.#refresh = refresh;
    reading.entries = () => read(refresh.seen(), listener);
    return refresh;
  }
}

/** Ids are read several times: only the last time counts. */
function restarted(progress: ReadProgress): ReadProgress {
  progress.entries = 0;
  progress.inputBytes = 0;
  progress.entriesOf.length = 0;
  progress.invalid.length = 0;
  return progress;
}
