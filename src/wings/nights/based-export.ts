import type { FilesAt, OpenBase, PinnedBase } from './base/open-base.ts';
import type { Entries } from '../../core/ids/entries.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { type ExportStart, type Spent, sumOfSpent, type Commit } from '../../places/export/export-facts.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import { markDuplicates } from '../../core/ids/prepare-inputs.ts';
import { countedIds, type ReadProgress } from '../../core/work/read-job-ids.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { RunListener } from '../../core/work/run-events.ts';
import type { PreparedAnswers, SpentNow } from '../../core/run/export-slices.ts';
import type { ExportBase, BasedExport } from '../../core/run/nights.ts';
import { warnOfDisk } from '../../core/run/disk-estimate.ts';
import { type HomeContext, openPlace, noteOfRepair } from '../../core/run/homes/open-home.ts';
import { readRunLines, lastRunOf } from '../../core/run/history/run-history.ts';
import { type ExportPlace } from '../../core/run/homes/export-place.ts';
import type { OpenRefresh, RefreshPlan } from './refresh-export.ts';
import { sumOfRefresh } from '../../core/work/batch-origins.ts';

/** The base that an export began with, or the one that it begins with now; undefined without one. */
export async function openBaseOf(
  job: Job,
  begun: Pick<ExportStart, 'base'> | undefined,
  context: HomeContext,
): Promise<OpenBase | undefined> {
  if (job.base.from === undefined || (begun !== undefined && begun.base === undefined)) return undefined;
  // What reads finished exports is loaded for exports with a base alone.
  const { findBase, reopenBase } = await import('./base/open-base.ts');
  const files = baseFiles(job, context);
  return begun?.base === undefined ? findBase(files, job) : reopenBase(files, begun.base, job);
}

/** Opens the place of a base. The endpoint of the output is that of a base in an S3-compatible store too. */
export function baseFiles(job: Job, context: HomeContext): FilesAt {
  return async (folder) => (await placeOf(job, folder, context)).files;
}

function placeOf({ output }: Job, folder: string, context: HomeContext): Promise<ExportPlace> {
  return openPlace(folder, folder.startsWith('s3://') ? output.endpoint : undefined, context);
}

/** The base of a run, with what it brings. */
export async function baseFor(
  job: Job,
  context: HomeContext,
  begun: Pick<ExportStart, 'base'> | undefined,
): Promise<ExportBase | undefined> {
  const base = await openBaseOf(job, begun, context);
  if (base === undefined) return undefined;
  const { folder, name, seal } = base;
  const place = await placeOf(job, folder, context);
  const message = await noteOfRepair(place);
  if (message !== undefined) context.listener?.({ kind: 'warning', message });
  const learnedCalls = lastRunOf(await readRunLines(place.files, folder))?.work.callsAtOnce;
  return { pinned: { folder, name, seal }, answersFor: (based) => new AnswersOfBase(base, based, learnedCalls) };
}

/** Requests what an export with a base has to request, before its parts are made from that and the base. */
class AnswersOfBase implements PreparedAnswers {
  readonly learnedCalls: number | undefined;
  readonly #base: OpenBase;
  readonly #based: BasedExport;
  #spent: Spent = { calls: 0, credits: 0 };
  #refresh: OpenRefresh | undefined;

  constructor(base: OpenBase, based: BasedExport, learnedCalls: number | undefined) {
    this.learnedCalls = learnedCalls;
    this.#base = base;
    this.#based = based;
  }

  spent(): Spent {
    return sumOfSpent(this.#based.open.spent(), this.#spent);
  }

  async explained(error: unknown): Promise<unknown> {
    const { explainedByBase } = await import('./base/open-base.ts');
    return explainedByBase(error, this.#base);
  }

  /** What the manifest says of the base, when all parts are made. */
  account(): Pick<Manifest, 'base'> {
    if (this.#refresh === undefined) return {};
    return { base: baseAccount(this.#base, this.#refresh, this.#based.open.commits()) };
  }

  async open(spentNow: SpentNow, context: ExportContext, learnedCalls: () => number | undefined): Promise<OpenRefresh> {
    const { job, open, home, inputs, progress, reading } = this.#based;
    const { files, listener } = context;
    const { openRefresh } = await import('./refresh-export.ts');
    const read = (seen: ReturnType<OpenRefresh['seen']>, told: RunListener): AsyncIterable<Entries> =>
      markDuplicates(countedIds(job, inputs, restarted(progress), told), seen);
    const refresh = await openRefresh({
      job,
      base: this.#base,
      files,
      folder: home.scratch,
      begun: open.start,
      entries: (seen) => read(seen, () => undefined),
      committed: new Set(open.commits().map(({ part }) => part)),
      request: async (idsPath, missingShare) => {
        const { requestIds } = await import('./request-ids.ts');
        const onSpent = (spent: Spent): void => {
          this.#spent = spent;
        };
        return requestIds({ job, home, idsPath, missingShare, learnedCalls, onSpent }, spentNow, context);
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

/** What the manifest says of the base. */
function baseAccount(
  { name, seal }: Pick<PinnedBase, 'name' | 'seal'>,
  { keys, choice, classes }: RefreshPlan,
  commits: readonly Commit[],
): NonNullable<Manifest['base']> {
  const sums = sumOfRefresh(commits.map(({ refresh }) => refresh));
  return {
    name,
    seal,
    asked: { ...choice.asked },
    overdue: choice.overdue,
    lost: sums.lost,
    rows: keys.rows,
    unlisted: choice.unlisted,
    classes: classes.all.map(({ when }, at) => {
      const { rows = 0, asked = 0 } = choice.classes[at] ?? {};
      return { when: [...when], rows, asked, changed: sums.changed[at] ?? 0 };
    }),
  };
}
