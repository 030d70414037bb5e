import { foldersBelowDate } from '../../core/job/night-names.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import type { FleetStanding } from '../../places/export/fleet-standing.ts';
import { type Counts, limitOf } from '../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { FileStore } from '../../places/files/file-store.ts';
import type { LockOwner } from '../../lib/process/lock-owner.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { RunLine } from '../../core/run/record/run-lines.ts';
import type { UnfinishedStanding } from '../../core/run/record/export-standing.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import { standingAt } from '../../core/run/homes/standing.ts';
import { committedCounts } from '../../places/scratch/commit-sums.ts';
import { fleetStatus } from './fleet-status.ts';
import {
  type AccountFigures,
  lastRunOf,
  meanIdsPerSecond,
  type StandingFigures,
  standingFigures,
} from '../../core/run/record/runs-model.ts';
import { partsOfTotal } from '../../core/run/record/run-figures.ts';
import { type RunStatus, unfinishedRun, unrecorded, workOf } from './run-status.ts';

/** The state of an export. Reading it changes nothing. Times are ISO 8601; null means unknown or not applicable. */
export interface ExportStatus extends RunStatus, AccountFigures, Pick<StandingFigures, 'creditsToday'> {
  /** Of committed parts. */
  readonly counts: Counts;
  readonly parts: number;
  /** Share of the input's bytes that committed parts cover, 0 to 1; with a limit, of the ids up to it. */
  readonly inputShare: number;
  /** How many parts there will be, by the size of those that are committed or by `output.rowsPerPart`. */
  readonly partsTotal: number | null;
  /** Calls sent, and credits that these may have cost, over all runs. */
  readonly calls: number;
  readonly credits: number;
  readonly inputs: readonly string[];
  /** Ids that are read at most; null for an export of all ids. */
  readonly limit: number | null;
  /** How the service is spoken to, where that is not the specification's way. */
  readonly dialect?: string;
  /** The process that runs it now. */
  readonly owner: LockOwner | null;
  /** Slices and living workers of an export that was enqueued and is not complete. */
  readonly fleet: FleetStanding | null;
  readonly startedAt: string | null;
}

/** @throws {ExportError} `usage` where there is no export */
export async function statusAt(place: ExportPlace, nowMs: number): Promise<ExportStatus> {
  const standing = await standingAt(place, nowMs);
  const { account, creditsToday } = standingFigures(standing, nowMs);
  const status =
    'manifest' in standing ? completed(standing.manifest, standing.lines) : unfinished(standing, account, nowMs);
  return { ...status, ...account, creditsToday };
}

/** What is known of an export but its figures. */
type OtherStatus = Omit<ExportStatus, keyof AccountFigures | 'creditsToday'>;

function unfinished(standing: UnfinishedStanding, figures: AccountFigures, nowMs: number): OtherStatus {
  const status = unfinishedAs(standing, figures, nowMs);
  const { fleet, lines } = standing;
  if (fleet === undefined) return status;
  const { read } = status.counts;
  return {
    ...status,
    ...fleetStatus({ fleet, lines, nowMs, read, ...figures }),
    fleet,
    inputShare: shareOf(read, fleet.entries),
  };
}

function unfinishedAs(
  { start, commits, spent, owner, lines }: UnfinishedStanding,
  { fetched, creditsLeft }: AccountFigures,
  nowMs: number,
): OtherStatus {
  const last = lastRunOf(lines);
  const inputBytes = start?.inputs.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  const counts = committedCounts(commits);
  const done = counts.read + fetched;
  const limit = start === undefined ? undefined : limitOf(start.job);
  const bytesDone = commits.at(-1)?.inputBytes ?? 0;
  const status = unfinishedRun(last, { isHeld: owner !== undefined, done, inputBytes, limit, creditsLeft, nowMs });
  const rowsPerPart = Number(start?.job['output.rowsPerPart']);
  const seen = { rowsPerPart, parts: commits.length, read: counts.read };
  return {
    ...status,
    counts,
    parts: commits.length,
    partsTotal: status.total === null ? null : partsOfTotal({ ...seen, total: status.total }),
    inputShare:
      limit === undefined
        ? shareOf(bytesDone, inputBytes)
        : shareOf(counts.read, status.totalExact ? (status.total ?? limit) : limit),
    ...spent,
    inputs: start?.inputs.map(({ name }) => name) ?? [],
    limit: limit ?? null,
    ...(last?.start.dialect === undefined ? {} : { dialect: last.start.dialect }),
    owner: owner ?? null,
    fleet: null,
    startedAt: start === undefined ? null : new Date(start.startedAtMs).toISOString(),
  };
}

function shareOf(done: number, all: number): number {
  return all === 0 ? 0 : Math.min(1, done / all);
}

function completed(manifest: Manifest, lines: readonly RunLine[]): OtherStatus {
  const { counts, parts, calls, credits, inputs } = manifest;
  const last = lastRunOf(lines);
  return {
    ...unrecorded,
    state: 'complete',
    exit: last?.end?.exit ?? exitCodes.complete.code,
    ...(last === undefined ? {} : { rate: meanIdsPerSecond(last), ...workOf(last) }),
    lastError: last?.end?.error ?? null,
    counts,
    parts,
    calls,
    credits,
    total: counts.read,
    totalExact: true,
    partsTotal: parts,
    inputShare: 1,
    inputs: inputs.map(({ name }) => name),
    limit: limitOf(manifest.job) ?? null,
    ...(manifest.dialect === undefined ? {} : { dialect: manifest.dialect }),
    owner: null,
    fleet: null,
    startedAt: null,
  };
}

/** The folders at and below one that hold exports, in the order of their names. */
export async function exportFolders(files: FileStore, folder: string, depth = foldersBelowDate): Promise<string[]> {
  const names = await files.list(folder);
  const isExport =
    names.includes(exportPaths.manifest) ||
    (await files.sizeOf(pathIn(folder, exportPaths.start))) !== undefined ||
    (await files.sizeOf(pathIn(folder, exportPaths.lock))) !== undefined;
  if (isExport) return [folder];
  const found: string[] = [];
  for (const name of depth === 0 ? [] : names) {
    const path = pathIn(folder, name);
    // A link, such as `latest`, leads to an export that is listed under its own name.
    if ((await files.readLink(path)) !== undefined) continue;
    if ((await files.sizeOf(path)) === 'folder') found.push(...(await exportFolders(files, path, depth - 1)));
  }
  return found;
}
