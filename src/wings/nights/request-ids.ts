import { askedInputs } from './base/asked-list.ts';
import { copyExport } from '../../exports/copy-export.ts';
import { type FinishedExport, openFinished } from '../../exports/finished-export.ts';
import type { PreparedInputs } from '../../core/ids/prepare-inputs.ts';
import type { Job } from '../../core/job/job-schema.ts';
import { thenCleanUp } from '../../lib/end-work.ts';
import { outcomesToRead } from '../../core/records/id-tables.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Spent } from '../../places/export/export-facts.ts';
import { readJobIds, newReadProgress } from '../../core/work/read-job-ids.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { RunListener } from '../../core/work/run-events.ts';
import { plannedLeft } from '../../core/run/calls-left.ts';
import { manifestOf } from '../../core/run/complete-export.ts';
import { exportSlices, type SlicesToMake, type SpentNow } from '../../core/run/export-slices.ts';
import type { ExportHome } from '../../core/run/homes/export-home.ts';
import { jobShape } from '../../core/run/job-shape.ts';

export interface IdsToRequest {
  /** Of the export that needs them. */
  readonly job: Job;
  /** The home of that export. */
  readonly home: ExportHome;
  /** A file with an id a line. */
  readonly idsPath: string;
  /** Share of them that were missing before. */
  readonly missingShare?: number | undefined;
  readonly learnedCalls: SlicesToMake['learnedCalls'];
  /** Told what the requests of all runs have cost, also when they fail. */
  readonly onSpent: (spent: Spent) => void;
}

/** Requests ids as an export within the export: it keeps their records until the parts are made. */
export async function requestIds(
  { job, home, idsPath, missingShare, learnedCalls, onSpent }: IdsToRequest,
  spentNow: SpentNow,
  context: ExportContext,
): Promise<FinishedExport> {
  const { files } = context;
  const inner = home.asked();
  if ((await inner.readManifest()) === undefined) {
    await files.makeFolder(pathIn(inner.scratch, exportPaths.run));
    const inputs = await askedInputs(files, idsPath);
    const wanted = askedJob(job, inner.name);
    const requested = await openWanted(inner, wanted, inputs);
    await thenCleanUp({
      work: () => requestAll({ ...requested, missingShare, learnedCalls }, inner, spentNow, context),
      cleanUp: [
        async () => {
          onSpent(requested.open.spent());
        },
        () => requested.open.close(),
      ],
    });
  }
  const finished = await openAsked(inner, home.scratch, context);
  const { calls, credits } = finished.manifest;
  onSpent({ calls, credits });
  return finished;
}

/** Its records are read in any order: those in a bucket are copied first. */
async function openAsked(
  { place }: ExportHome,
  scratch: string,
  { files }: Pick<ExportContext, 'files'>,
): Promise<FinishedExport> {
  if (!place.store.isShared) return openFinished(place.folder, files);
  const target = pathIn(scratch, exportPaths.askedCopy);
  await copyExport({ from: place.files, folder: place.folder, to: files, target });
  return openFinished(target, files);
}

async function openWanted(inner: ExportHome, wanted: Job, inputs: PreparedInputs): Promise<SlicesToMake> {
  const start = { job: jobShape(wanted), inputs: [...inputs.fingerprints], startedAtMs: 0 };
  const progress = newReadProgress();
  const open = await inner.open(start, () => readJobIds(wanted, inputs, progress, () => undefined));
  const planned = await plannedLeft(wanted, inputs, open, () => inner.readAnswers());
  return { job: wanted, inputs, open, progress, planned, whenLost: 'end' };
}

async function requestAll(
  requested: SlicesToMake,
  inner: ExportHome,
  spentNow: SpentNow,
  context: ExportContext,
): Promise<void> {
  await exportSlices(requested, spentNow, { ...context, listener: requestsOf(context.listener) });
  const { job, open } = requested;
  const { version } = context;
  await inner.putManifest(manifestOf({ job, start: open.start, commits: open.commits(), ...open.spent(), version }));
}

const ofParts: ReadonlySet<string> = new Set(['opened', 'read', 'settled', 'holding', 'committed']);

/** Events of requests alone: what they become are no parts of the export. */
function requestsOf(listener: RunListener): RunListener {
  return (event) => {
    if (!ofParts.has(event.kind)) listener(event);
  };
}

/** How the ids that are requested lie in their file. */
export const askedIdsForm: Job['ids'] = { from: ['asked-ids'], format: 'lines', outcome: [...outcomesToRead] };

/**
 * The job of an export within the export: what is requested is kept as it comes, compressed.
 * @param dir where it lies
 */
export function askedJob(job: Job, dir: string): Job {
  return {
    ...job,
    ids: askedIdsForm,
    base: { ...job.base, from: undefined },
    output: {
      ...job.output,
      dir,
      formats: ['raw'],
      tables: ['assets'],
      exclude: [],
      rename: {},
      exportedAt: false,
      columns: undefined,
      report: false,
      latest: false,
      keepIds: false,
      compression: { ...job.output.compression, raw: 'blocks' },
    },
  };
}
