import type { LoadedJob } from '../job/load-job.ts';
import { openFinished } from '../finished/finished-export.ts';
import { ExportError } from '../lib/export-error.ts';
import { formats } from '../formats/sink.ts';
import type { Commit } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import { openJournal } from '../store/journal.ts';
import { readJournals } from '../store/journal-entries.ts';
import { type Manifest, writeManifest } from '../store/manifest.ts';
import { publishFiles } from '../store/part-file.ts';
import { openTally, type Tally } from '../store/tally.ts';
import { batchesOf, batchIds } from '../ids/batch-ids.ts';
import { manifestOf } from './complete-export.ts';
import { countCalls } from '../work/count-calls.ts';
import { entriesOf } from '../ids/mark-duplicates.ts';
import type { ExportContext } from '../work/export-context.ts';
import type { Job } from '../job/job-schema.ts';
import { jobAsBegun, jobOfNothing, joinOf } from './job-shape.ts';
import { countedEntries, newReadProgress } from '../work/count-entries.ts';
import { makeParts } from '../work/make-parts.ts';
import { type InputSources, type PreparedInputs, prepareInputs } from '../ids/prepare-inputs.ts';
import { systemClock } from '../lib/clock.ts';
import { bucketIds } from './homes/bucket-ids.ts';
import { rebuildTables } from './rebuild-files.ts';
import { rebuildUnexported } from './rebuild-unexported.ts';
import { awaitsRepair, clearRun } from './throw-away.ts';
import { type Verification, verifyExport } from './verify-export.ts';

export interface RepairRequest {
  readonly folder: string;
  /** Names the ids, the service and the budget; all else is as it was when the export began. Absent: only tables are rebuilt. */
  readonly source?: LoadedJob | undefined;
}

/** What a repair does to the world. */
export interface RepairEffects extends Pick<InputSources, 'files' | 'stdin'> {
  /** Opens the client and the ledger, to request ids again for credits; absent: requests nothing. */
  readonly pay?: (() => Promise<ExportContext>) | undefined;
}

/** The cost of making the parts again that could not be rebuilt. */
export interface RepairBill {
  readonly calls: number;
  readonly credits: number;
}

export interface RepairOutcome {
  /** The damage that remains. */
  readonly after: Verification;
  /** Files that were rebuilt from other files of the export, for no credits. */
  readonly rebuilt: readonly string[];
  /** Of the parts that were still damaged then; absent where there were none, or the ids are not known. */
  readonly bill?: RepairBill;
  /** Parts that were made again from the service, from 0. */
  readonly parts: readonly number[];
  /** Calls that this took, and credits that these may have cost. */
  readonly calls: number;
  readonly credits: number;
  /** Why it stopped before all was repaired. The same request resumes. */
  readonly error?: ExportError;
}

/**
 * Repairs a complete export: rebuilds damaged files from others, then requests the ids of the parts that are still damaged, if
 * `pay` is given, within the budget.
 * @throws {ExportError} `damaged` when the manifest is, `input` when the ids are not those of the export, `locked`, …
 */
export async function repairExport(request: RepairRequest, effects: RepairEffects): Promise<RepairOutcome> {
  const { files } = effects;
  const { folder } = request;
  await openFinished(folder, files);
  await files.makeFolder(pathIn(folder, exportPaths.run));
  const lock = await files.takeLock(folder);
  try {
    const outcome = await repairLocked(request, effects);
    if (outcome.error === undefined && !(outcome.after.damage.length > 0 && (await awaitsRepair(files, folder)))) {
      await clearRun(files, folder);
      await lock.remove();
    }
    return outcome;
  } finally {
    await lock.release();
  }
}

async function repairLocked({ folder, source }: RepairRequest, effects: RepairEffects): Promise<RepairOutcome> {
  const { files, pay } = effects;
  const before = await verifyExport(files, folder);
  const finished = await openFinished(folder, files);
  const { manifest } = finished;
  const job = jobAsBegun(source?.job ?? jobOfNothing(folder), manifest.job);
  const damaged = new Set(before.damage.map(({ path }) => path));
  const damagedParts = (): Set<number> =>
    new Set(manifest.files.filter(({ path }) => damaged.has(path)).map(({ part }) => part));
  const damagedExport = { finished, job, damaged };
  const rebuilt: string[] = [];
  for await (const path of rebuildTables(damagedExport)) rebuilt.push(path);
  const prepared =
    source === undefined || damagedParts().size === 0
      ? undefined
      : await sameInputs({ ...source, job }, { manifest, effects });
  if (prepared !== undefined) for await (const path of rebuildUnexported(damagedExport, prepared)) rebuilt.push(path);
  const after = { ...before, damage: before.damage.filter(({ path }) => damaged.has(path)) };
  const parts = damagedParts();
  const unpaid = { after, rebuilt, parts: [], calls: 0, credits: 0 };
  if (prepared === undefined || parts.size === 0) return unpaid;
  requireOwnFormats(manifest, folder);
  requireNoBase(manifest, folder);
  requireOwnParts(manifest, folder);
  const bill = await billOf({ job, prepared, parts }, files);
  if (pay === undefined) return { ...unpaid, bill };
  return { rebuilt, bill, ...(await requestAgain({ job, prepared, manifest, parts }, await pay())) };
}

/** @throws {ExportError} `usage` for an export with custom formats: only its program can make a part of it */
function requireOwnFormats({ files }: Manifest, folder: string): void {
  const custom = files.find(({ format }) => !formats.some((each) => each === format));
  if (custom === undefined) return;
  throw new ExportError('usage', `${folder} has files in the format ${custom.format}, which a program added`, {
    todo: 'Run the export again from that program with fresh: true.',
  });
}

/** @throws {ExportError} `usage` for an export with a base: requested again, its carried rows would be others */
function requireNoBase({ base }: Manifest, folder: string): void {
  if (base === undefined) return;
  throw new ExportError(
    'usage',
    `${folder} took rows from the base ${base.name}: its parts cannot be requested again`,
    {
      todo: 'Restore the files from a copy, or run the job again with --fresh.',
    },
  );
}

/** @throws {ExportError} `usage` for parts that were joined: ids are not cut into such */
function requireOwnParts({ job }: Manifest, folder: string): void {
  if (joinOf(job) === 1) return;
  throw new ExportError('usage', `the parts of ${folder} were joined by rebuild: they cannot be requested again`, {
    todo: 'Rebuild it from its source with --fresh.',
  });
}

async function billOf(
  { job, prepared, parts }: Pick<Remaking, 'job' | 'prepared' | 'parts'>,
  files: FileStore,
): Promise<RepairBill> {
  const { rowsPerPart, dir } = job.output;
  const kept = await readJournals(files, [dir]);
  const counter = countCalls({ kept, flags: job.service.flags, initialCap: undefined });
  const batches = batchIds(entriesOf(job, prepared), { idsPerCall: job.service.idsPerCall, rowsPerPart });
  for await (const batch of batchesOf(batches, (part) => parts.has(part))) {
    await counter.add(batch);
    batch.entries.release();
  }
  const calls = counter.calls();
  return { calls, credits: calls * job.budget.creditsPerCall };
}

async function requestAgain(
  request: Omit<Remaking, 'calls' | 'credits'>,
  context: ExportContext,
): Promise<Pick<RepairOutcome, 'after' | 'parts' | 'calls' | 'credits' | 'error'>> {
  const { files } = context;
  const folder = request.job.output.dir;
  await (await files.open(pathIn(folder, exportPaths.repairing), 'create')).close();
  await files.syncFolder(pathIn(folder, exportPaths.run));
  const sums = await openSums(files, folder, request.manifest);
  const began = { calls: sums.calls.total(), credits: sums.credits.total() };
  const parts: number[] = [];
  let error: ExportError | undefined;
  try {
    for await (const part of remadeParts({ ...request, ...sums }, context)) parts.push(part);
  } catch (reason) {
    if (!(reason instanceof ExportError)) throw reason;
    error = reason;
  } finally {
    await sums.calls.close();
    await sums.credits.close();
  }
  return {
    after: await verifyExport(files, folder),
    parts,
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

/** Makes the parts and yields the number of each once it is in the manifest. */
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
        ...{ job, sinks: [], startedAtMs },
        sources: prepared.inputs.map(({ name }) => name),
        parts: {
          ...{ scratch: folder, journal, calls, credits, firstPart: 0 },
          isNeeded: (part) => parts.has(part),
          entries: () => countedEntries(job, prepared, { progress: newReadProgress(), listener: context.listener }),
        },
      },
      context,
    );
    for await (const { part } of made) {
      commits[part.part] = { ...part, inputBytes: 0 };
      const names = part.files.map(({ path }) => path);
      await publishFiles(files, folder, names);
      const spent = { calls: calls.total(), credits: credits.total() };
      await writeManifest(files, folder, manifestOf({ job, start, commits, ...spent, version: context.version }));
      await files.remove(pathIn(folder, exportPaths.journal(part.part)));
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

/** The inputs at their present paths, under the names in the manifest. @throws {ExportError} `input` */
async function sameInputs(
  { job, idsFolder }: LoadedJob,
  { manifest, effects }: { readonly manifest: Manifest; readonly effects: RepairEffects },
): Promise<PreparedInputs> {
  const folder = job.output.dir;
  const { files, stdin } = effects;
  const findRemote = bucketIds(job, { clock: systemClock, random: Math.random });
  const prepared = await prepareInputs({ job, idsFolder, files, stdin, folder, findRemote });
  const hashes = (inputs: readonly { readonly sha256: string }[]): string => inputs.map(({ sha256 }) => sha256).join();
  if (hashes(prepared.fingerprints) !== hashes(manifest.inputs)) {
    throw new ExportError('input', `these are not the ids that ${folder} was made from`, {
      todo: `Name the same files, in the same order: ${manifest.inputs.map(({ name }) => name).join(', ')}.`,
    });
  }
  const named = prepared.inputs.map((input, index) => ({ ...input, name: manifest.inputs[index]?.name ?? input.name }));
  return { ...prepared, inputs: named };
}
