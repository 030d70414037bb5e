import type { Job } from '../job/job-schema.ts';
import { ExportError } from '../lib/export-error.ts';
import type { Commit } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import { openJournal } from '../store/journal.ts';
import type { Manifest } from '../store/manifest.ts';
import { openTally, type Tally } from '../store/tally.ts';
import { completeExport } from './complete-export.ts';
import type { ExportContext } from './export-context.ts';
import { jobAsBegun } from './job-shape.ts';
import { makeParts } from './make-parts.ts';
import { type PreparedInputs, prepareInputs } from './prepare-inputs.ts';
import { clearRun } from './throw-away.ts';
import { manifestOf, type Verification, verifyExport } from './verify-export.ts';

export interface RepairRequest {
  /** Names the folder, the ids, the service and the budget; all else is as it was when the export began. */
  readonly job: Job;
  /** Folder at which relative patterns of `ids.from` start. */
  readonly idsFolder: string;
}

export interface RepairOutcome {
  /** What is wrong now: nothing, but for files that are none of the export's, which are left alone. */
  readonly after: Verification;
  /** Parts that were made again, from 0. */
  readonly parts: readonly number[];
  /** Calls that this took, and credits that these may have cost. */
  readonly calls: number;
  readonly credits: number;
  /** Why it stopped before all was mended. The same request goes on. */
  readonly error?: ExportError;
}

/**
 * Makes the damaged parts of a complete export again, and only those. Their ids are asked for once more: it costs
 * credits, within the budget.
 * @throws {ExportError} `damaged` when the manifest is, `input` when the ids are not those of the export, `locked`, …
 */
export async function repairExport(request: RepairRequest, context: ExportContext): Promise<RepairOutcome> {
  const { files } = context;
  const folder = request.job.output.dir;
  await manifestOf(files, folder);
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const lock = await files.takeLock(folder);
  try {
    const outcome = await repairLocked(request, context);
    if (outcome.error === undefined) {
      await clearRun(files, folder);
      await lock.remove();
    }
    return outcome;
  } finally {
    await lock.release();
  }
}

async function repairLocked(request: RepairRequest, context: ExportContext): Promise<RepairOutcome> {
  const { files } = context;
  const folder = request.job.output.dir;
  const before = await verifyExport(files, folder);
  const manifest = await manifestOf(files, folder);
  const damaged = new Set(before.damage.map(({ path }) => path));
  const parts = new Set(manifest.files.filter(({ path }) => damaged.has(path)).map(({ part }) => part));
  if (parts.size === 0) return { after: before, parts: [], calls: 0, credits: 0 };
  const job = jobAsBegun(request.job, manifest.job);
  const prepared = await sameInputs({ ...request, job }, { manifest, context });
  await (await files.open(pathIn(folder, exportPaths.repairing), 'create')).close();
  await files.syncFolder(pathIn(folder, exportPaths.run));
  const sums = await openSums(files, folder, manifest);
  const began = { calls: sums.calls.total(), credits: sums.credits.total() };
  const mended: number[] = [];
  let error: ExportError | undefined;
  try {
    for await (const part of remadeParts({ job, prepared, manifest, parts, ...sums }, context)) mended.push(part);
  } catch (reason) {
    if (!(reason instanceof ExportError)) throw reason;
    error = reason;
  } finally {
    await sums.calls.close();
    await sums.credits.close();
  }
  return {
    after: await verifyExport(files, folder),
    parts: mended,
    calls: sums.calls.total() - began.calls,
    credits: sums.credits.total() - began.credits,
    ...(error === undefined ? {} : { error }),
  };
}

interface Remaking {
  readonly job: Job;
  readonly prepared: PreparedInputs;
  readonly manifest: Manifest;
  readonly parts: ReadonlySet<number>;
  readonly calls: Tally;
  readonly credits: Tally;
}

/** Makes the parts and yields the number of each once the manifest tells of it. */
async function* remadeParts(remaking: Remaking, context: ExportContext): AsyncGenerator<number, void, void> {
  const { job, prepared, manifest, parts, calls, credits } = remaking;
  const { files } = context;
  const folder = job.output.dir;
  const commits = commitsOf(manifest);
  const startedAtMs = manifest.startedAtMs ?? 0;
  const start = { job: manifest.job, inputs: manifest.inputs, startedAtMs };
  const journal = await openJournal(files, folder);
  try {
    const made = makeParts(
      {
        ...{ job, prepared, journal, calls, credits, startedAtMs },
        progress: { entries: 0, inputBytes: 0 },
        isNeeded: (part) => parts.has(part),
        firstPart: parts.has(0) ? 0 : 1,
      },
      context,
    );
    for await (const { part } of made) {
      await journal.sync();
      commits[part.part] = { ...part, inputBytes: 0 };
      const spent = { calls: calls.total(), credits: credits.total() };
      await completeExport({ files, job, start, commits, ...spent, version: context.version });
      await journal.dropThrough(part.part);
      yield part.part;
    }
  } finally {
    await journal.close();
  }
}

function commitsOf({ commits, files }: Manifest): Commit[] {
  return commits.map((commit) => ({
    ...commit,
    inputBytes: 0,
    files: files
      .filter(({ part }) => part === commit.part)
      .map(({ path, format, table, part, rows, bytes, sha256 }) => ({
        path,
        format,
        table,
        part,
        rows,
        bytes,
        sha256,
      })),
  }));
}

/** The sums go on from the manifest, and from a repair that was stopped. */
async function openSums(
  files: FileStore,
  folder: string,
  manifest: Manifest,
): Promise<{ calls: Tally; credits: Tally }> {
  const calls = await openTally(files, pathIn(folder, exportPaths.callCount));
  const credits = await openTally(files, pathIn(folder, exportPaths.creditCount));
  await calls.add(Math.max(0, manifest.calls - calls.total()));
  await credits.add(Math.max(0, manifest.credits - credits.total()));
  return { calls, credits };
}

/** The inputs, wherever they lie now, under the names that the export knows. @throws {ExportError} `input` */
async function sameInputs(
  { job, idsFolder }: RepairRequest,
  { manifest, context }: { readonly manifest: Manifest; readonly context: ExportContext },
): Promise<PreparedInputs> {
  const folder = job.output.dir;
  const { files, stdin, stop } = context;
  const prepared = await prepareInputs({ job, idsFolder, files, stdin, stop, folder });
  const hashes = (inputs: readonly { readonly sha256: string }[]): string => inputs.map(({ sha256 }) => sha256).join();
  if (hashes(prepared.fingerprints) !== hashes(manifest.inputs)) {
    throw new ExportError('input', `the ids are not those that ${folder} was made from`, {
      todo: `Name the same files, in the same order: ${manifest.inputs.map(({ name }) => name).join(', ')}.`,
    });
  }
  const named = prepared.inputs.map((input, index) => ({ ...input, name: manifest.inputs[index]?.name ?? input.name }));
  return { ...prepared, inputs: named };
}
