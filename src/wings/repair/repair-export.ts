import { changesTable } from '../../core/records/columns.ts';
import type { Job } from '../../core/job/job-schema.ts';
import type { LoadedJob } from '../../core/job/load-job.ts';
import { type InputSources, type PreparedInputs, prepareInputs, entriesOf } from '../../core/ids/prepare-inputs.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import type { HomePlace } from '../../core/run/homes/home-place.ts';
import { homeAt, type HomeContext, openHomePlace, bucketIds, repairPlace } from '../../core/run/homes/open-home.ts';
import { jobAsBegun, jobOfNothing, joinOf } from '../../core/run/job-shape.ts';
import { type Following, followRepair } from '../../core/run/nights.ts';
import { braked } from '../../core/run/follow-run.ts';
import { type FinishedExport, openFinished } from '../../exports/finished-export.ts';
import { verifyExport } from '../../exports/verify-export.ts';
import { systemClock } from '../../lib/clock.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { type Manifest, begunOf, contentSeal } from '../../places/export/manifest.ts';
import { syncFoldersOf } from '../../places/files/disk.ts';
import { type DamagedExport, damagedParts, rebuildTables, type PreparedDamage } from './rebuild-files.ts';
import { rebuildUnexported } from './rebuild-unexported.ts';
import {
  clearRepair,
  dropChanges,
  endRepair,
  readRepair,
  removeDropped,
  type UnfinishedRepair,
  beginRepair,
  type Repairs,
} from './repair-log.ts';
import type { Spent } from '../../places/export/export-facts.ts';
import type { RepairOutcome, RequestedParts } from './repair-outcome.ts';
import { type EntryBlock, storedEntries, invalidState } from '../../core/ids/entries.ts';
import { EntryBlocks } from '../../core/ids/read/entry-blocks.ts';
import { idsTable } from '../../core/records/id-tables.ts';
import { callsLeft } from '../../core/run/calls-left.ts';
import { exportSlices } from '../../core/run/export-slices.ts';
import { newReadProgress, readJobIds } from '../../core/work/read-job-ids.ts';

export interface RepairRequest {
  /** The folder of the export, or its address in a bucket. */
  readonly folder: string;
  /** Names the ids, the service and the budget; all else is as it was when the export began. Absent: only tables are rebuilt. */
  readonly source?: LoadedJob | undefined;
  /** Where the bucket is reached, and the local folder for exports in buckets; those of the source unless given. */
  readonly output?: Partial<Pick<Job['output'], 'endpoint' | 'scratch'>>;
}

/** What a repair does to the world. */
export interface RepairEffects extends Pick<InputSources, 'files' | 'stdin'>, Following {
  /** Opens the client and the ledger, to request ids again for credits; absent: requests nothing. */
  readonly pay?: (() => Promise<ExportContext>) | undefined;
  /** Opens buckets; by default with the credentials of the environment. */
  readonly openStore?: ExportContext['openStore'];
  /** Aborted when the time of grace of the process is over. */
  readonly abort?: AbortSignal | undefined;
}

/**
 * Repairs a complete export: rebuilds damaged files from others, then requests the ids of the parts that are still damaged, if `pay` is
 * given, within the budget.
 * @throws {ExportError} `damaged` when the manifest is, `input` when the ids are not those of the export, `locked`, …
 */
export async function repairExport(request: RepairRequest, effects: RepairEffects): Promise<RepairOutcome> {
  const { folder, source } = request;
  const { files } = effects;
  const given = source?.job ?? jobOfNothing(folder);
  const output = { ...given.output, dir: folder, ...request.output };
  const place = await openHomePlace({ ...given, output }, homeContext(effects));
  const within = repairPlace(place);
  const finished = await openFinished(folder, homeAt(place).place.files);
  requireUnsorted(finished);
  for (const each of [place, within]) await files.makeFolder(pathIn(each.scratch, exportPaths.run));
  const lock = await files.takeLock(place.scratch);
  try {
    const outcome = await repairLocked(place, finished, source, effects);
    if (outcome.after.damage.length === 0 && place.shared === undefined) await syncAll(effects, folder);
    if (!outcome.isUnfinished) {
      await clearRepair(place, within);
      await lock.remove();
    }
    if (outcome.after.damage.length > 0) return outcome;
    const error = await followRepair(
      { folder, endpoint: output.endpoint },
      { ...homeContext(effects), lake: effects.lake },
    );
    if (error !== undefined) return { ...outcome, error };
    const dropped = await removeDropped(place, folder);
    const strangers = outcome.after.strangers.filter((path) => !dropped.has(path));
    return { ...outcome, after: { ...outcome.after, strangers } };
  } finally {
    await lock.release();
  }
}

/** A file of a sorted export holds rows of any part of the source. @throws {ExportError} `usage` */
function requireUnsorted({ manifest, folder }: FinishedExport): void {
  if (manifest.sorted === undefined) return;
  throw new ExportError(
    'usage',
    `${folder} cannot be repaired: its assets are sorted by ${manifest.sorted.join(', ')}`,
    {
      todo: 'Rebuild it from its source: asset-export rebuild SOURCE --sort COLUMNS --out NEW.',
    },
  );
}

/** A repair that was killed may have left files under their names that a loss of power would take away, and removed some that it would bring back. */
async function syncAll({ files }: RepairEffects, folder: string): Promise<void> {
  const { manifest } = await openFinished(folder, files);
  const names = [exportPaths.manifest, ...manifest.files.map(({ path }) => path)];
  // Files of `changes` that are gone come back from a folder that was not synced.
  for (const format of new Set(manifest.files.map(({ format }) => format))) {
    const dropped = `${format}/${changesTable.name}`;
    if ((await files.sizeOf(pathIn(folder, dropped))) === 'folder') names.push(`${dropped}/*`);
  }
  await syncFoldersOf(
    files,
    folder,
    names.map((name) => pathIn(folder, name)),
  );
}

function homeContext(effects: RepairEffects): HomeContext {
  return { ...effects, clock: systemClock, random: Math.random };
}

async function repairLocked(
  place: HomePlace,
  finished: FinishedExport,
  source: LoadedJob | undefined,
  effects: RepairEffects,
): Promise<RepairOutcome & { readonly isUnfinished: boolean }> {
  const within = repairPlace(place);
  const { manifest, files, folder } = finished;
  const before = await verifyExport(files, folder);
  const unfinished = await readRepair(within, manifest);
  const job = jobAsBegun(source?.job ?? jobOfNothing(folder), manifest.job);
  /** What is made is not damaged, though the manifest does not name it yet. */
  const made = new Set(unfinished?.made.flatMap((commit) => commit.files.map(({ path }) => path)));
  const damaged = new Set(before.damage.map(({ path }) => path).filter((path) => !made.has(path)));
  const damage = { finished, job, damaged, target: { ...place, scratch: within.scratch } };
  const rebuilt: string[] = [];
  for await (const path of rebuildTables(damage)) rebuilt.push(path);
  const hasParts = (): boolean => damagedParts(damage).size > 0;
  const prepared = hasParts()
    ? await inputsOf(source && { ...source, job }, { finished, damaged }, effects)
    : undefined;
  if (prepared !== undefined) for await (const path of rebuildUnexported(damage, prepared)) rebuilt.push(path);
  const requested = source === undefined || !hasParts() ? undefined : prepared;
  if (requested !== undefined) requireOwnParts(manifest, folder);
  const listed = requested && (await listParts(within, { ...damage, prepared: requested }, unfinished));
  const payer = listed && effects.pay && braked(await effects.pay(), job);
  const paid = listed && payer ? await requestParts(listed, payer) : { parts: [], calls: 0, credits: 0 };
  const now = await readRepair(within, manifest);
  const isDone = now !== undefined && isOver(now, damage);
  const lost = finished.filesOf(changesTable.name).filter(({ path }) => damaged.has(path));
  const isDropped = now === undefined && lost.length > 0 && !hasParts();
  if (isDone) await endRepair(place, damage, now, payer?.version);
  else if (isDropped) await dropChanges(place, manifest);
  const after =
    isDone || isDropped || paid.parts.length > 0
      ? await verifyExport(files, folder)
      : { ...before, damage: before.damage.filter(({ path }) => damaged.has(path) || made.has(path)) };
  const notes = [
    ...keptNote(requested),
    ...nightNotes(finished, { isRequested: listed !== undefined, isLost: lost.length > 0 }),
  ];
  return { ...paid, after, rebuilt, notes, ...(listed && { bill: listed.bill }), isUnfinished: !isDone && !!now };
}

/** What a repair takes from a night. */
function nightNotes(
  { tables, manifest }: FinishedExport,
  { isRequested, isLost }: { readonly isRequested: boolean; readonly isLost: boolean },
): string[] {
  const carried =
    'Carried rows of damaged parts are requested again too, and count as exported. Their fetched_at is the start of this export.';
  const dropped =
    'The table changes is removed from the export, since its rows are made of two exports: load compares whole tables.';
  const hasChanges = tables.has(changesTable.name);
  return [
    ...(isRequested && manifest.base !== undefined ? [carried] : []),
    ...((isRequested && hasChanges) || isLost ? [dropped] : []),
  ];
}

/** Whether all parts of a repair are made, or are as the manifest names them. */
function isOver({ parts, made }: UnfinishedRepair, damage: DamagedExport): boolean {
  const open = damagedParts(damage);
  for (const { part } of made) open.delete(part);
  return !parts.some((part) => open.has(part));
}

/** @throws {ExportError} `usage` for parts that were joined: ids are not cut into such */
function requireOwnParts({ job }: Manifest, folder: string): void {
  if (joinOf(job) === 1) return;
  throw new ExportError('usage', `the parts of ${folder} were joined by rebuild: they cannot be requested again`, {
    todo: 'Rebuild it from its source with --fresh.',
  });
}

/**
 * The inputs that the job names, or the copy that the export keeps where these changed or are gone.
 * @throws {ExportError} `input` when they changed, and there is no whole copy
 */
async function inputsOf(
  source: LoadedJob | undefined,
  { finished, damaged }: Pick<DamagedExport, 'finished' | 'damaged'>,
  effects: RepairEffects,
): Promise<PreparedInputs | undefined> {
  const kept = keptInputs(finished, damaged);
  if (source === undefined) return kept;
  try {
    return await sameInputs(source, { manifest: finished.manifest, effects });
  } catch (error) {
    if (kept !== undefined && error instanceof ExportError && error.exit === 'input') return kept;
    throw error;
  }
}

function keptNote(prepared: PreparedInputs | undefined): string[] {
  if (prepared?.kept === undefined) return [];
  return ['The id files changed or are gone: the ids are read from ids/ in the export.'];
}

/** The inputs at their present paths, under the names in the manifest. @throws {ExportError} `input` */
async function sameInputs(
  { job, idsFolder, outputDir }: LoadedJob,
  { manifest, effects }: { readonly manifest: Manifest; readonly effects: RepairEffects },
): Promise<PreparedInputs> {
  const folder = job.output.dir;
  const { files, stdin, abort } = effects;
  const findRemote = bucketIds(job, { clock: systemClock, random: Math.random, abort });
  const prepared = await prepareInputs({ job, idsFolder, outputDir, files, stdin, folder, findRemote });
  const hashes = (inputs: readonly { readonly sha256: string }[]): string => inputs.map(({ sha256 }) => sha256).join();
  if (hashes(prepared.fingerprints) !== hashes(manifest.inputs)) {
    throw new ExportError('input', `these are not the ids that ${folder} was made from`, {
      todo: `Name the same files, in the same order: ${manifest.inputs.map(({ name }) => name).join(', ')}.`,
    });
  }
  const named = prepared.inputs.map((input, index) => ({ ...input, name: manifest.inputs[index]?.name ?? input.name }));
  return { ...prepared, inputs: named };
}

/** The inputs of an export as it kept them; undefined where it did not, or where a file of them is damaged. */
function keptInputs(finished: FinishedExport, damaged: ReadonlySet<string>): PreparedInputs | undefined {
  const { manifest, folder } = finished;
  const files = finished.filesOf(idsTable.name);
  if (files.length !== manifest.parts || files.some(({ path }) => damaged.has(path))) return undefined;
  const path = pathIn(folder, exportPaths.ids(0));
  return {
    inputs: manifest.inputs.map(({ name }) => ({ name, path, format: 'csv', compression: 'gzip' })),
    fingerprints: manifest.inputs,
    inputBytes: manifest.inputs.reduce((sum, { bytes }) => sum + bytes, 0),
    columns: [],
    kept: () => keptBlocks(finished),
  };
}

/** The entries as they were read. Repeated ids are found again, as those of an input are. */
async function* keptBlocks(finished: FinishedExport): AsyncGenerator<EntryBlock, void, void> {
  const names = finished.manifest.inputs.map(({ name }) => name);
  let name: string | undefined;
  let blocks = new EntryBlocks('', 0);
  for (const file of finished.filesOf(idsTable.name)) {
    for await (const rows of finished.blocks(file, idsTable.columns)) {
      for (const { input, line, text, state, reason } of storedEntries(rows)) {
        if (input !== name) {
          yield* blocks.take(true);
          blocks = new EntryBlocks(input, names.indexOf(input));
          name = input;
        }
        if (state === invalidState) blocks.addInvalid(text, line, reason);
        else blocks.addText(text, line);
        if (blocks.hasFull) yield* blocks.take();
      }
    }
  }
  yield* blocks.take(true);
}

/** Damaged parts that are made again, and what that costs. */
interface PartsToRequest {
  readonly within: HomePlace;
  readonly damage: PreparedDamage;
  /** The repair that was stopped, where it is resumed. */
  readonly unfinished: UnfinishedRepair | undefined;
  readonly repairs: Repairs;
  readonly bill: Spent;
}

/**
 * Counts what damaged parts cost; undefined where none has to be made. A repair that was stopped is finished first, and costs nothing for
 * answers that it kept.
 */
async function listParts(
  within: HomePlace,
  damage: PreparedDamage,
  unfinished: UnfinishedRepair | undefined,
): Promise<PartsToRequest | undefined> {
  const { job, prepared, finished } = damage;
  const damaged = damagedParts(damage);
  const repairs = unfinished ?? { seal: contentSeal(finished.manifest), parts: [...damaged].sort((a, b) => a - b) };
  const made = new Set(unfinished?.made.map(({ part }) => part));
  const open = new Set(repairs.parts.filter((part) => !made.has(part) && damaged.has(part)));
  if (open.size === 0) return undefined;
  const kept = unfinished && (await homeAt(within).readAnswers());
  const isNeeded = (part: number): boolean => open.has(part);
  const { calls } = await callsLeft(entriesOf(job, prepared), job, { isNeeded, kept });
  return { within, damage, unfinished, repairs, bill: { calls, credits: calls * job.budget.creditsPerCall } };
}

/** Requests what has to be requested within the budget, and makes the parts: the ordinary export, of the parts that its log lacks. */
async function requestParts(
  { within, damage, unfinished, repairs }: PartsToRequest,
  context: ExportContext,
): Promise<RequestedParts> {
  const { prepared, finished } = damage;
  const { output } = damage.job;
  const tables = output.tables.filter((name) => name !== changesTable.name);
  const job = { ...damage.job, output: { ...output, tables } };
  const { job: shape, inputs, calls, credits } = finished.manifest;
  if (unfinished === undefined) await beginRepair(within, finished.manifest, { repairs, spent: { calls, credits } });
  const spentNow = { calls: 0, credits: 0 };
  const parts: number[] = [];
  const heard: ExportContext = {
    ...context,
    listener: (event) => {
      if (event.kind === 'committed') parts.push(event.commit.part);
      else if (event.kind !== 'opened') context.listener(event);
    },
  };
  const progress = newReadProgress();
  const start = { job: shape, inputs, ...begunOf(finished.manifest) };
  let error: ExportError | undefined;
  try {
    const open = await homeAt(within).open(start, () => readJobIds(job, prepared, progress, heard.listener));
    try {
      const made = { ...prepared, fingerprints: inputs };
      await exportSlices({ job, inputs: made, open, progress, whenLost: 'end' }, spentNow, heard);
    } finally {
      await open.close();
    }
  } catch (reason) {
    if (!(reason instanceof ExportError)) throw reason;
    error = reason;
  }
  return { parts, ...spentNow, ...(error === undefined ? {} : { error }) };
}
