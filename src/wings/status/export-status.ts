import { foldersBelowDate } from '../../core/job/night-names.ts';
import { exitCodes } from '../../lib/exit-codes.ts';
import type { FleetStanding } from '../../places/log/heartbeat.ts';
import { type Counts, limitOf, type SomeIds } from '../../places/export/export-facts.ts';
import { exportPaths, pathIn } from '../../places/export/export-folder.ts';
import type { Reads } from '../../places/files/disk.ts';
import type { LockOwner } from '../../lib/process/lock-owner.ts';
import type { Manifest } from '../../places/export/manifest.ts';
import type { RunLine } from '../../core/run/history/run-lines.ts';
import {
  type UnfinishedStanding,
  lastRunOf,
  meanIdsPerSecond,
  paceOf,
  type RecordedRun,
  runsOf,
  standingFigures,
} from '../../core/run/history/run-history.ts';
import type { ExportPlace } from '../../core/run/homes/export-place.ts';
import { standingAt } from '../../core/run/homes/standing.ts';
import { committedCounts } from '../../places/scratch/commit-sums.ts';
import { type AccountFigures, partsOfTotal } from '../../core/run/history/run-figures.ts';
import { type RunStatus, unfinishedRun, unrecorded, workOf, etaMs, pausedUntil, serviceStatus } from './run-status.ts';

/** The state of an export. Reading it changes nothing. Times are ISO 8601; null means unknown or not applicable. */
export interface ExportStatus extends RunStatus, AccountFigures {
  /** Booked on this UTC day by all who share the ledger, when the export last looked; null without a run. */
  readonly creditsToday: number | null;
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
  readonly limit: SomeIds | null;
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
  const some = start === undefined ? undefined : limitOf(start.job);
  // How many ids a sample has is known when all are read.
  const limit = typeof some === 'number' ? some : undefined;
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
    limit: some ?? null,
    ...(last?.start.dialect === undefined ? {} : { dialect: last.start.dialect }),
    owner: owner ?? null,
    fleet: null,
    startedAt: startText(start),
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
    startedAt: startText(manifest),
  };
}

function startText(start: Pick<Manifest, 'startedAtMs'> = {}): string | null {
  return start.startedAtMs === undefined ? null : new Date(start.startedAtMs).toISOString();
}

/** The folders at and below one that hold exports, in the order of their names. */
export async function exportFolders(files: Reads, folder: string, depth = foldersBelowDate): Promise<string[]> {
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

/** What workers do together, by their heartbeats and records. */
function fleetStatus({
  fleet,
  lines,
  nowMs,
  read,
  fetched,
  creditsLeft,
}: {
  readonly fleet: FleetStanding;
  /** Of the records of all workers. */
  readonly lines: readonly RunLine[];
  readonly nowMs: number;
  /** Entries of committed parts. */
  readonly read: number;
  readonly fetched: number;
  readonly creditsLeft: number | null;
}): RunStatus {
  const { entries, held } = fleet;
  const left = Math.max(0, entries - read - fetched);
  const runs = runsOf(lines).sort((a, b) => b.endedMs - a.endedMs);
  const total = { total: entries, totalExact: true };
  // A worker that was killed has no end, either: those that hold slices were heard last.
  const live = runs.filter(({ end }) => end === undefined).slice(0, held);
  const [latest, ...others] = live;
  if (latest === undefined) {
    const standing = { isHeld: held > 0, done: read + fetched, inputBytes: 0, creditsLeft, nowMs };
    return { ...unfinishedRun(runs[0], standing), ...total };
  }
  return {
    ...liveStatus([latest, ...others], left, creditsLeft, nowMs),
    ...total,
    lastError: lastErrorOf(runs, live),
  };
}

/**
 * @param live runs of living workers, the one that was heard last first
 * @param left entries that are neither committed nor fetched
 */
function liveStatus(
  live: readonly [RecordedRun, ...RecordedRun[]],
  left: number,
  creditsLeft: number | null,
  nowMs: number,
): Omit<RunStatus, 'total' | 'totalExact' | 'lastError'> {
  const [latest] = live;
  const works = live.map((run) => workOf(run, nowMs));
  const sum = (name: 'bytes' | 'callsInFlight' | 'retries'): number => works.reduce((all, work) => all + work[name], 0);
  // The fleet waits when all its workers do.
  const untilMs = Math.min(...live.map(({ waitingUntilMs = 0 }) => waitingUntilMs));
  const waitingUntilMs = untilMs > nowMs ? untilMs : undefined;
  // What a worker did since its last heartbeat is not known here.
  const rate = live.reduce((all, run) => all + paceOf(run, 0, run.endedMs).pace.idsPerSecond(), 0);
  const workMs = (left / rate) * 1000;
  return {
    state: waitingUntilMs === undefined ? 'running' : 'waiting',
    ...serviceStatus(live),
    waitingUntil: waitingUntilMs === undefined ? null : new Date(waitingUntilMs).toISOString(),
    exit: null,
    rate,
    etaMs: rate === 0 ? null : etaMs(latest, { ids: left, workMs, waitingUntilMs }, creditsLeft, nowMs),
    elapsedMs: Math.max(...works.map(({ elapsedMs }) => elapsedMs ?? 0)),
    bytes: sum('bytes'),
    callsInFlight: sum('callsInFlight'),
    callsAtOnce: works.every(({ callsAtOnce }) => callsAtOnce === null)
      ? null
      : works.reduce((all, { callsAtOnce }) => all + (callsAtOnce ?? 0), 0),
    retries: sum('retries'),
    pausedUntil: pausedUntil(latest, nowMs),
  };
}

/** The latest trouble since the first of the living workers began, of those that have ended, too. */
function lastErrorOf(runs: readonly RecordedRun[], live: readonly RecordedRun[]): string | null {
  const sinceMs = Math.min(...live.map(({ start }) => start.startMs));
  const troubled = runs.filter(({ lastError, lastErrorMs }) => lastError !== undefined && lastErrorMs >= sinceMs);
  return troubled.sort((a, b) => b.lastErrorMs - a.lastErrorMs)[0]?.lastError ?? null;
}
