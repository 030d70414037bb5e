import { resolve } from 'node:path';
import { type FinishedExport, openFinished } from '../../../exports/finished-export.ts';
import { recordFiles } from '../../../exports/records.ts';
import type { Job } from '../../../core/job/job-schema.ts';
import { ExportError } from '../../../lib/export-error.ts';
import { changesTable } from '../../../core/records/columns.ts';
import { contentSeal, begunOf, type NewManifest } from '../../../places/export/manifest.ts';
import type { ExportStart } from '../../../places/export/export-facts.ts';
import type { Reads } from '../../../places/files/disk.ts';
import { newReadProgress, type ReadProgress } from '../../../core/work/read-job-ids.ts';
import type { RunListener } from '../../../core/work/run-events.ts';
import type { ExportContext } from '../../../core/run/export-context.ts';
import { tablesOf } from '../../../core/work/tables-of.ts';
import { manifestOf, type ExportOutcome } from '../../../core/run/complete-export.ts';
import { makeAndComplete, type Run } from '../../../core/run/export-slices.ts';
import type { OpenExport } from '../../../core/run/homes/export-home.ts';
import { completeBefore, withLockedHome } from '../../../core/run/homes/home-lock.ts';
import { openHome } from '../../../core/run/homes/open-home.ts';
import { jobAsBegun, jobOfNothing, jobShape, rebuiltShape } from '../../../core/run/job-shape.ts';
import { followRun } from '../../../core/run/follow-run.ts';
import { type RebuiltParts, rebuiltParts } from './rebuilt-parts.ts';
import type { SortOrder } from './sorted-records.ts';

export interface RebuildRequest {
  /** A complete export. */
  readonly source: FinishedExport;
  /** What the new one is to be, as `rebuiltJob` gives it. */
  readonly job: Job;
  /** How many neighbouring parts become one, from 1. */
  readonly join: number;
  /** How assets are to be sorted; absent: as in the source. */
  readonly sort?: SortOrder | undefined;
  /** Throw away what an earlier rebuild left. */
  readonly fresh: boolean;
}

/** What of the output is to differ from the source. */
export type RebuiltOutput = Partial<
  Pick<Job['output'], 'formats' | 'tables' | 'columns' | 'exclude' | 'endpoint' | 'scratch'>
>;

/** Opens the export that is to be rebuilt. @throws {ExportError} as `openFinished`; `usage` for a diff */
export async function openSource(folder: string, files: Reads): Promise<FinishedExport> {
  const finished = await openFinished(folder, files);
  if (finished.manifest.kind !== 'diff') return finished;
  throw new ExportError('usage', `${folder} is a diff, not an export`, { todo: 'Name the folder of an export.' });
}

/** The job of the new export: that of the source, but for its output. @throws {ExportError} `usage` for what the source cannot give */
export function rebuiltJob(source: FinishedExport, dir: string, output: RebuiltOutput): Job {
  const { manifest, folder } = source;
  const refused = (why: string, todo: string): ExportError => new ExportError('usage', why, { todo });
  if (resolve(dir) === resolve(folder))
    throw refused(`${folder} cannot be rebuilt into itself`, 'Name another folder or bucket with --out.');
  const begun = jobAsBegun(jobOfNothing(dir), manifest.job);
  const job: Job = {
    ...begun,
    // Fates are those of the source, which was told what it tolerates.
    tolerance: {
      maxMissing: '100%',
      maxFailed: '100%',
      maxInvalid: '100%',
      maxUnlisted: '100%',
      maxUnproven: '100%',
      allowNone: true,
    },
    output: { ...begun.output, ...output },
  };
  const had = new Set(manifest.files.map(({ format }) => format));
  if (job.output.formats.includes('raw') && !had.has('raw'))
    throw refused(
      `${folder} has no raw files, and in tables, an absent member and null look the same`,
      'Leave raw out of --format.',
    );
  requireChanges(source, job);
  try {
    recordFiles(source);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    throw refused(error.message, error.todo ?? '');
  }
  return job;
}

/** Rows of `changes` are those of the source: of the same columns, or none. @throws {ExportError} `usage` */
function requireChanges({ tables, folder, manifest }: FinishedExport, job: Job): void {
  if (!job.output.tables.includes('changes')) return;
  const todo = 'Leave changes out of --tables.';
  const had = tables.get(changesTable.name);
  if (had === undefined) throw new ExportError('usage', `${folder} has no table changes`, { todo });
  const now = tablesOf(job, begunOf(manifest)).find(({ whole }) => whole === changesTable);
  const shapeOf = (table: typeof had | undefined): string => (table?.columns ?? []).map(({ name }) => name).join();
  if (shapeOf(had) === shapeOf(now?.table)) return;
  throw new ExportError('usage', 'the table changes can be copied only if the columns of assets stay the same', {
    todo,
  });
}

/**
 * Writes an export anew from the records that it holds, for no credits: in other formats, tables, columns or larger parts. Fates, reasons, times, calls and
 * credits are those of the source. The same request resumes.
 * @throws {ExportError} `usage`, `input` when the source changed since, `locked`, `damaged`, `cannotWrite`
 */
export async function rebuildExport(request: RebuildRequest, context: ExportContext): Promise<ExportOutcome> {
  const { job } = request;
  const startedAtMs = context.clock.now();
  return followRun({ ...context, job, startedAtMs }, async (observed) => {
    const home = await openHome(job, context);
    await home.requireOwn();
    return withLockedHome(home, context, () => rebuildHeld(request, { job, home, context: observed }));
  });
}

/** The new export began when its source did. */
function startOf({ source: { manifest }, job, join, sort }: RebuildRequest): ExportStart {
  const { inputs, startedAtMs = 0 } = manifest;
  const shape = { ...jobShape(job), ...rebuiltShape(contentSeal(manifest), join, sort?.columns) };
  return { job: shape, inputs: [...inputs], startedAtMs };
}

async function rebuildHeld(request: RebuildRequest, run: Run): Promise<ExportOutcome> {
  const { source, join, sort, fresh } = request;
  const { job, home, context } = run;
  const { manifest } = source;
  if (fresh || (await home.isThrowingAway())) await home.throwAway({ inputs: [], stop: context.stop });
  const { inputs } = manifest;
  const start = startOf(request);
  const finished = await completeBefore(home, start, job.tolerance);
  if (finished !== undefined) return finished;
  const open = await home.open(start, noEntries);
  const bytesOf = bytesByPart(source);
  const progress = newReadProgress();
  const onRead = countingRead(bytesOf, progress, context.listener);
  return makeAndComplete(run, {
    open,
    progress,
    whenLost: 'end',
    inputs: { fingerprints: inputs, inputBytes: [...bytesOf.values()].reduce((a, b) => a + b, 0), columns: [] },
    make: ({ scratch: folder, isNeeded }) =>
      rebuiltParts({
        finished: source,
        job,
        begun: open.start,
        join,
        sort,
        files: context.files,
        folder,
        isNeeded,
        stop: context.stop,
        onRead,
      }),
    complete: () => home.putManifest(rebuiltAccount(request, open, context.version)),
  });
}

/** What the source cost and requested, with the parts as they are now. */
function rebuiltAccount(
  { source: { manifest }, job, sort }: RebuildRequest,
  open: OpenExport,
  version: string,
): NewManifest {
  const { calls, credits, base } = manifest;
  return manifestOf({
    job,
    start: open.start,
    commits: open.commits(),
    calls,
    credits,
    version,
    ...(base === undefined ? {} : { base }),
    rebuilt: { seal: contentSeal(manifest) },
    sorted: sort?.columns ?? manifest.sorted,
  });
}

/** No ids are read: the parts of the source say which there were. */
async function* noEntries(): AsyncGenerator<never, void, void> {}

/** Counts what is read of the source, and reports it. */
function countingRead(
  bytesOf: ReadonlyMap<number, number>,
  progress: ReadProgress,
  listener: RunListener,
): RebuiltParts['onRead'] {
  return ({ part, counts }) => {
    progress.entries += counts.read;
    progress.inputBytes += bytesOf.get(part) ?? 0;
    listener({ kind: 'read', entries: progress.entries, inputBytes: progress.inputBytes });
  };
}

/** How many bytes of records each part of the source has. */
function bytesByPart(source: FinishedExport): Map<number, number> {
  return new Map(recordFiles(source).map(({ part, bytes }) => [part, bytes]));
}
