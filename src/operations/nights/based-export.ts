import type { FilesAt, OpenBase } from '../../base/open-base.ts';
import type { FinishedExport } from '../../finished/finished-export.ts';
import type { Entries } from '../../ids/entries.ts';
import type { PreparedInputs } from '../../ids/prepare-inputs.ts';
import type { Job } from '../../job/job-schema.ts';
import { isBucketAddress } from '../../lib/bucket-address.ts';
import { thenCleanUp } from '../../lib/clean-up.ts';
import type { ExportStart } from '../../store/checkpoint.ts';
import { exportPaths, pathIn } from '../../store/export-folder.ts';
import type { Spent } from '../../store/export-standing.ts';
import type { FileStore } from '../../store/file-store.ts';
import type { Manifest } from '../../store/manifest.ts';
import { countedEntries, newReadProgress, type ReadProgress } from '../../work/count-entries.ts';
import type { ExportContext } from '../../work/export-context.ts';
import type { RunListener } from '../../work/run-events.ts';
import { manifestOf } from '../complete-export.ts';
import { exportSlices, type PreparedAnswers, type SpentNow } from '../export-slices.ts';
import type { ExportHome, OpenExport } from '../homes/export-home.ts';
import { type HomeContext, openStoreAt } from '../homes/open-home.ts';
import { jobShape, requireSame } from '../job-shape.ts';
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
}

/** What reads finished exports is loaded for exports with a base alone. */
export async function newBase(job: Job, context: HomeContext): Promise<OpenBase | undefined> {
  if (job.base.from === undefined) return undefined;
  const { findBase } = await import('../../base/open-base.ts');
  return findBase(baseFiles(job, context), job);
}

/** Opens the place of a base. The endpoint of the output is that of a base in an S3-compatible store too. */
export function baseFiles({ output }: Job, context: HomeContext): FilesAt {
  return async (folder) => {
    if (!isBucketAddress(folder)) return context.files;
    const { bucketFiles } = await import('../../store/bucket-files.ts');
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
  if (begun.base === undefined) return undefined;
  const { reopenBase } = await import('../../base/open-base.ts');
  return reopenBase(baseFiles(job, context), begun.base, job);
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
    const own = this.#based.open.spent();
    return { calls: own.calls + this.#spent.calls, credits: own.credits + this.#spent.credits };
  }

  /** What the manifest says of the base, when all parts are made. */
  account(): Pick<Manifest, 'base'> {
    const { base, open } = this.#based;
    return this.#refresh === undefined ? {} : { base: baseAccount(base, this.#refresh, open.commits()) };
  }

  async open(spentNow: SpentNow, context: ExportContext): Promise<OpenRefresh> {
    const { job, base, open, home, prepared, progress, reading } = this.#based;
    const { files, listener } = context;
    const { openRefresh } = await import('./refresh-export.ts');
    const read = (seen: ReturnType<OpenRefresh['seen']>, told: RunListener): AsyncIterable<Entries> =>
      countedEntries(job, prepared, { progress: restarted(progress), listener: told, seen });
    const refresh = await openRefresh({
      ...{ job, base, files, folder: home.scratch, startedAtMs: open.start.startedAtMs },
      entries: (seen) => read(seen, () => undefined),
      committed: new Set(open.commits().map(({ part }) => part)),
      request: (idsPath) => this.#request(idsPath, spentNow, context),
      onWarning: (message) => {
        listener({ kind: 'warning', message });
      },
    });
    this.#refresh = refresh;
    reading.entries = () => read(refresh.seen(), listener);
    return refresh;
  }

  /** Requests ids as an export within the export: it keeps their records until the parts are made. */
  async #request(idsPath: string, spentNow: SpentNow, context: ExportContext): Promise<FinishedExport> {
    const { job, home } = this.#based;
    const { files } = context;
    const inner = home.asked();
    if ((await inner.readManifest()) === undefined) {
      const { askedInputs } = await import('../../base/asked-list.ts');
      await files.makeFolder(pathIn(inner.scratch, exportPaths.run));
      const inputs = await askedInputs(files, idsPath);
      await this.#requestAll({ inner, inputs, wanted: askedJob(job, inner.name) }, spentNow, context);
    }
    const finished = await this.#openAsked(inner, files);
    const { calls, credits } = finished.manifest;
    this.#spent = { calls, credits };
    return finished;
  }

  /** Its records are read in any order: those in a bucket are copied first. */
  async #openAsked({ place }: ExportHome, files: FileStore): Promise<FinishedExport> {
    const { openFinished } = await import('../../finished/finished-export.ts');
    if (place.store === undefined) return openFinished(place.folder, files);
    const { copyExport } = await import('../../finished/copy-export.ts');
    const target = pathIn(this.#based.home.scratch, exportPaths.askedCopy);
    await copyExport({ from: place.files, folder: place.folder, to: files, target });
    return openFinished(target, files);
  }

  async #requestAll(
    { inner, inputs, wanted }: { readonly inner: ExportHome; readonly inputs: PreparedInputs; readonly wanted: Job },
    spentNow: SpentNow,
    context: ExportContext,
  ): Promise<void> {
    const { version } = context;
    const start = { job: jobShape(wanted), inputs: [...inputs.fingerprints], startedAtMs: 0 };
    const progress = newReadProgress();
    const quiet = { ...context, listener: requestsOf(context.listener) };
    const entries = () => countedEntries(wanted, inputs, { progress, listener: () => undefined });
    const open = await inner.open(start, entries);
    await thenCleanUp({
      work: async () => {
        await exportSlices({ job: wanted, sinks: [], inputs, open, progress, whenLost: 'end' }, spentNow, quiet);
        await inner.putManifest(
          manifestOf({ job: wanted, start: open.start, commits: open.commits(), ...open.spent(), version }),
        );
      },
      cleanUp: [
        async () => {
          this.#spent = open.spent();
        },
        () => open.close(),
      ],
    });
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

const ofParts: ReadonlySet<string> = new Set(['opened', 'read', 'settled', 'holding', 'committed']);

/** Events of requests alone: what they become are no parts of the export. */
function requestsOf(listener: RunListener): RunListener {
  return (event) => {
    if (!ofParts.has(event.kind)) listener(event);
  };
}

/** What is requested is kept as it comes. */
function askedJob(job: Job, dir: string): Job {
  return {
    ...job,
    ids: { from: ['asked-ids'], format: 'lines' },
    base: { ...job.base, from: undefined },
    output: {
      ...job.output,
      ...{ dir, formats: ['raw'], tables: ['assets'], exclude: [], rename: {}, nested: false, exportedAt: false },
      ...{ columns: undefined, report: false, latest: false },
      compression: { ...job.output.compression, raw: 'none' },
    },
  };
}
