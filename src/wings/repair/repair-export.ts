import type { LoadedJob } from '../../core/job/load-job.ts';
import { type FinishedExport, openFinished } from '../../exports/finished-export.ts';
import { ExportError } from '../../lib/export-error.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import { type FileStore, syncFoldersOf } from '../../places/files/file-store.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { ExportContext } from '../../core/run/export-context.ts';
import { jobAsBegun, jobOfNothing } from '../../core/run/job-shape.ts';
import { type InputSources, type PreparedInputs, prepareInputs } from '../../core/ids/prepare-inputs.ts';
import { systemClock } from '../../lib/clock.ts';
import { bucketIds } from '../../core/run/homes/bucket-ids.ts';
import { rebuildTables } from './rebuild-files.ts';
import { rebuildUnexported } from './rebuild-unexported.ts';
import { keptInputs } from './kept-ids.ts';
import type { RepairOutcome } from './repair-outcome.ts';
import { braked } from '../../core/run/run-brake.ts';
import { restOf } from './rest-of-repair.ts';
import { awaitsRepair, clearRun } from './clear-run.ts';
import { verifyExport } from '../../exports/verify-export.ts';

export interface RepairRequest {
  readonly folder: string;
  /** Names the ids, the service and the budget; all else is as it was when the export began. Absent: only tables are rebuilt. */
  readonly source?: LoadedJob | undefined;
  /** Where the export lies, if the folder is a copy of it. Answers that were paid for stay in the copy: it is not put back yet. */
  readonly place?: string | undefined;
}

/** What a repair does to the world. */
export interface RepairEffects extends Pick<InputSources, 'files' | 'stdin'> {
  /** Opens the client and the ledger, to request ids again for credits; absent: requests nothing. */
  readonly pay?: (() => Promise<ExportContext>) | undefined;
  /** Opens the bucket of a base; by default with the credentials of the environment. */
  readonly openStore?: ExportContext['openStore'];
  /** Aborted when the time of grace of the process is over. */
  readonly abort?: AbortSignal | undefined;
}

/**
 * Repairs a complete export: rebuilds damaged files from others and from its base, then requests the ids of the parts that are
 * still damaged, if `pay` is given, within the budget.
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
    if (outcome.after.damage.length === 0) await syncAll(files, folder);
    const mayBeNeeded = outcome.error !== undefined || request.place !== undefined;
    if (!mayBeNeeded && !(outcome.after.damage.length > 0 && (await awaitsRepair(files, folder)))) {
      await clearRun(files, folder);
      await lock.remove();
    }
    return outcome;
  } finally {
    await lock.release();
  }
}

/** A repair that was killed may have left files under their names that a loss of power would take away. */
async function syncAll(files: FileStore, folder: string): Promise<void> {
  const { manifest } = await openFinished(folder, files);
  const names = [exportPaths.manifest, ...manifest.files.map(({ path }) => path)];
  await syncFoldersOf(
    files,
    folder,
    names.map((name) => pathIn(folder, name)),
  );
}

async function repairLocked(
  { folder, source, place = folder }: RepairRequest,
  effects: RepairEffects,
): Promise<RepairOutcome> {
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
    damagedParts().size === 0
      ? undefined
      : await inputsOf(source === undefined ? undefined : { ...source, job }, finished, damaged, effects);
  if (prepared !== undefined) for await (const path of rebuildUnexported(damagedExport, prepared)) rebuilt.push(path);
  const requested = source === undefined ? undefined : prepared;
  const rest = await restOf({ ...damagedExport, from: source?.job.base.from, place }, requested, effects);
  rebuilt.push(...(rest?.rebuilt ?? []));
  const after = { ...before, damage: before.damage.filter(({ path }) => damaged.has(path)) };
  const notes = [...keptNote(source, rest === undefined ? undefined : prepared), ...(rest?.notes ?? [])];
  const unpaid = { after, rebuilt, notes, parts: [], calls: 0, credits: 0 };
  if (rest?.bill === undefined) return unpaid;
  const { bill } = rest;
  if (pay === undefined) return { ...unpaid, bill };
  const paid = await rest.request(braked(await pay(), job));
  return { after: await verifyExport(files, folder), rebuilt, notes, bill, ...paid };
}

/**
 * The inputs that the job names, or the copy that the export keeps where these changed or are gone.
 * @throws {ExportError} `input` when they changed, and there is no whole copy
 */
async function inputsOf(
  source: LoadedJob | undefined,
  finished: FinishedExport,
  damaged: ReadonlySet<string>,
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

function keptNote(source: LoadedJob | undefined, prepared: PreparedInputs | undefined): string[] {
  if (source === undefined || prepared?.kept === undefined) return [];
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
