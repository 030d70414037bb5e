import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../lib/export-error.ts';
import { noCounts, sumOf } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import { type Manifest, readManifest } from '../store/manifest.ts';
import { completeExport } from './complete-export.ts';
import type { ExportContext } from './export-context.ts';
import { accountOf, type ExportOutcome, unfinishedAccount } from './export-outcome.ts';
import { jobShape, requireSame } from './job-shape.ts';
import { type OpenExport, openExport } from './open-export.ts';
import { type PreparedInputs, prepareInputs } from './prepare-inputs.ts';
import type { ReadProgress } from './count-entries.ts';
import { makeParts } from './make-parts.ts';
import { awaitsRepair, clearRun, hasBegun, isThrowingAway, throwAway } from './throw-away.ts';

export interface ExportRequest {
  readonly job: Job;
  /** Folder at which relative patterns of `ids.from` start. */
  readonly idsFolder: string;
  /** Throw away what an earlier run left. */
  readonly fresh: boolean;
}

/**
 * Starts an export, or continues it: the same request either way.
 *
 * What stops it on its way is part of the outcome, so that the account can be told beside it.
 * @throws {ExportError} when the export cannot be opened: `usage`, `input`, `locked`, `damaged`, `cannotWrite`
 */
export async function exportAssets(request: ExportRequest, context: ExportContext): Promise<ExportOutcome> {
  const { files } = context;
  const folder = request.job.output.dir;
  const finished = request.fresh ? undefined : await finishedBefore(request, context);
  if (finished !== undefined) return finished;
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const lock = await files.takeLock(folder);
  try {
    const outcome = await exportLocked(request, context);
    if (outcome.state !== 'unfinished' && !(await awaitsRepair(files, folder))) {
      await clearRun(files, folder);
      await lock.remove();
    }
    return outcome;
  } catch (error) {
    // Refused before it began: nothing is left of it.
    if (!(await hasBegun(files, folder))) {
      await clearRun(files, folder);
      await lock.remove();
    }
    throw error;
  } finally {
    await lock.release();
  }
}

/** The account of an export that is complete and that nobody works on: reading it takes no lock and writes nothing. */
async function finishedBefore(
  { job, idsFolder }: ExportRequest,
  context: ExportContext,
): Promise<ExportOutcome | undefined> {
  const { files, stdin } = context;
  const folder = job.output.dir;
  // Ids from stdin have to be kept to be compared, which needs the lock.
  if (job.ids.from.includes('-') || (await files.list(pathIn(folder, exportPaths.run))).length > 0) return undefined;
  const manifest = await readManifest(files, folder);
  if (manifest === undefined) return undefined;
  const { fingerprints } = await prepareInputs({ job, idsFolder, files, stdin, folder });
  requireSame(folder, manifest, { job: jobShape(job), inputs: [...fingerprints] });
  return alreadyComplete(folder, manifest);
}

function alreadyComplete(folder: string, manifest: Manifest): ExportOutcome {
  return { state: 'already', account: accountOf(folder, manifest), callsOfRun: 0, creditsOfRun: 0, elapsedMs: 0 };
}

async function exportLocked({ job, idsFolder, fresh }: ExportRequest, context: ExportContext): Promise<ExportOutcome> {
  const { files, clock } = context;
  const folder = job.output.dir;
  const startedAtMs = clock.now();
  const prepared = await prepareInputs({ job, idsFolder, files, stdin: context.stdin, stop: context.stop, folder });
  // Who was stopped meanwhile may have read the half of what was piped in.
  if (fresh || job.ids.from.includes('-')) context.stop.throwIfAborted();
  // Only now: for inputs that cannot be read nothing is thrown away.
  if (fresh || (await isThrowingAway(files, folder))) await throwAway(files, folder, prepared.inputs);
  const start = { job: jobShape(job), inputs: [...prepared.fingerprints], startedAtMs };
  const finished = await readManifest(files, folder);
  if (finished !== undefined) {
    requireSame(folder, finished, start);
    // The run that gave it its name may have been stopped before that was safe; after this the checkpoint goes.
    await files.syncFolder(folder);
    return alreadyComplete(folder, finished);
  }
  const open = await openExport(files, folder, start);
  const { checkpoint, calls, credits } = open;
  const before = { calls: calls.total(), credits: credits.total() };
  const progress: ReadProgress = { entries: 0, inputBytes: 0 };
  const runFacts = () => ({
    callsOfRun: calls.total() - before.calls,
    creditsOfRun: credits.total() - before.credits,
    elapsedMs: clock.now() - startedAtMs,
  });
  try {
    await exportParts({ job, prepared, open, progress }, context);
    const { commits } = checkpoint;
    const spent = { calls: calls.total(), credits: credits.total() };
    const done = { files, job, start: checkpoint.start, commits, ...spent, version: context.version };
    const manifest = await completeExport(done);
    return { state: 'complete', account: accountOf(folder, manifest), ...runFacts() };
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    const account = unfinishedAccount({
      folder,
      commits: checkpoint.commits,
      read: progress.entries,
      calls: calls.total(),
      credits: credits.total(),
    });
    return { state: 'unfinished', account, ...runFacts(), error };
  } finally {
    await open.close();
  }
}

interface ExportedParts {
  readonly job: Job;
  readonly prepared: PreparedInputs;
  readonly open: OpenExport;
  readonly progress: ReadProgress;
}

/** Makes the parts that are not committed yet, and commits each. */
async function exportParts({ job, prepared, open, progress }: ExportedParts, context: ExportContext): Promise<void> {
  const { checkpoint, journal } = open;
  const committed = sumOf(
    noCounts,
    checkpoint.commits.map(({ counts }) => counts),
  );
  const parts = checkpoint.commits.length;
  context.listener({
    kind: 'opened',
    inputBytes: prepared.inputBytes,
    parts,
    answers: journal.size(),
    counts: committed,
  });
  const made = makeParts(
    {
      ...{ job, prepared, progress, ...open },
      startedAtMs: checkpoint.start.startedAtMs,
      initialCap: checkpoint.commits.at(-1)?.cap,
      isNeeded: (part) => part >= parts,
      firstPart: parts,
    },
    context,
  );
  let covered = committed.read;
  for await (const { part, cap } of made) {
    covered += part.counts.read;
    await journal.sync();
    const commit = {
      ...part,
      // Reading runs ahead: the part's share of what was read is what it covers.
      inputBytes: Math.round(progress.inputBytes * (covered / Math.max(1, progress.entries))),
      ...(cap === undefined ? {} : { cap }),
    };
    await checkpoint.append(commit);
    await journal.dropThrough(part.part);
    context.listener({ kind: 'committed', commit });
  }
}
