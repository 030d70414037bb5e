import { type Clock, systemClock } from '../lib/clock.ts';
import { exitCodes } from '../lib/exit-codes.ts';
import type { FleetStanding } from '../store/fleet-standing.ts';
import type { Counts } from '../store/export-facts.ts';
import { exportPaths, pathIn } from '../store/export-folder.ts';
import type { FileStore } from '../store/file-store.ts';
import type { LockOwner } from '../lib/process/lock-owner.ts';
import type { Manifest } from '../store/manifest.ts';
import type { RunLine } from '../store/run-lines.ts';
import type { UnfinishedStanding } from '../store/export-standing.ts';
import type { ExportPlace } from './homes/export-place.ts';
import { standingAt } from './standing-at.ts';
import { committedCounts } from './export-outcome.ts';
import {
  creditFigures,
  fetchedIds,
  fleetRate,
  type LastRun,
  lastRunOf,
  meanIdsPerSecond,
  paceOf,
  partsOfTotal,
  timeThroughBudget,
} from './run-figures.ts';

/** The state of an export. Reading it changes nothing. Times are ISO 8601; null means unknown or not applicable. */
export interface ExportStatus {
  readonly state: 'complete' | 'running' | 'waiting' | 'stopped';
  /** Until when a run waits for credits. */
  readonly waitingUntil: string | null;
  /** Exit status of the last run; null while one is running, and for one that was killed. */
  readonly exit: number | null;
  /** Of committed parts. */
  readonly counts: Counts;
  /** Ids whose answers are kept and that are in no committed part. */
  readonly fetched: number;
  readonly parts: number;
  /** Share of the input's bytes that committed parts cover, 0 to 1. */
  readonly inputShare: number;
  /** Entries of all inputs; an estimate until they are read to their end, which `totalExact` says. */
  readonly total: number | null;
  readonly totalExact: boolean;
  /** How many parts there will be, by the size of those that are committed or by `output.rowsPerPart`. */
  readonly partsTotal: number | null;
  /** Ids a second: the recent speed of a live run, else that of the whole last run. */
  readonly rate: number | null;
  /** Milliseconds until the end of the export. */
  readonly etaMs: number | null;
  /** Of the last run: how long it has worked or did, in milliseconds, and what it did. */
  readonly elapsedMs: number | null;
  readonly bytes: number;
  readonly callsInFlight: number;
  readonly retries: number;
  /** Until when all calls of a live run are paused. */
  readonly pausedUntil: string | null;
  /** Calls sent, and credits that these may have cost, over all runs. */
  readonly calls: number;
  readonly credits: number;
  /** Credits booked on this UTC day by all who share the ledger, when the export last looked; and what the limits leave. */
  readonly creditsToday: number | null;
  readonly creditsLeft: number | null;
  /** The error that ended the last run, or the last reason for a retry or a pause of a live run. */
  readonly lastError: string | null;
  readonly inputs: readonly string[];
  /** The process that runs it now. */
  readonly owner: LockOwner | null;
  /** Slices and living workers of an export that was enqueued and is not complete. */
  readonly fleet: FleetStanding | null;
  readonly startedAt: string | null;
}

/** @throws {ExportError} `usage` when there is no export in the folder */
export async function exportStatus(
  files: FileStore,
  folder: string,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<ExportStatus> {
  return statusAt({ files, folder }, clock.now());
}

/** @throws {ExportError} `usage` where there is no export */
export async function statusAt(place: ExportPlace, nowMs: number): Promise<ExportStatus> {
  const standing = await standingAt(place, nowMs);
  return 'manifest' in standing ? completed(standing.manifest, standing.lines, nowMs) : unfinished(standing, nowMs);
}

function unfinished(standing: UnfinishedStanding, nowMs: number): ExportStatus {
  const status = unfinishedAs(standing, nowMs);
  const { fleet, lines } = standing;
  if (fleet === undefined) return status;
  const { entries } = fleet;
  const { read } = status.counts;
  const rate = fleet.held === 0 ? null : fleetRate(lines, nowMs);
  return {
    ...status,
    ...{ fleet, total: entries, totalExact: true, inputShare: entries === 0 ? 0 : read / entries, fetched: 0 },
    ...{ rate, etaMs: rate === null || rate === 0 ? null : Math.round(((entries - read) / rate) * 1000) },
  };
}

function unfinishedAs({ start, commits, spent, owner, lines }: UnfinishedStanding, nowMs: number): ExportStatus {
  const last = lastRunOf(lines);
  const inputBytes = start?.inputs.reduce((sum, { bytes }) => sum + bytes, 0) ?? 0;
  const counts = committedCounts(commits);
  const fetched = fetchedIds(lines, counts);
  return {
    ...unfinishedRun(last, { isHeld: owner !== undefined, done: counts.read + fetched, inputBytes, nowMs }),
    counts,
    fetched,
    parts: commits.length,
    partsTotal: partsExpected({
      last,
      inputBytes,
      rowsPerPart: Number(start?.job['output.rowsPerPart']),
      parts: commits.length,
      read: counts.read,
    }),
    inputShare: inputBytes === 0 ? 0 : Math.min(1, (commits.at(-1)?.inputBytes ?? 0) / inputBytes),
    ...spent,
    inputs: start?.inputs.map(({ name }) => name) ?? [],
    owner: owner ?? null,
    fleet: null,
    startedAt: start === undefined ? null : new Date(start.startedAtMs).toISOString(),
  };
}

/** What a record alone says. */
type RunStatus = Pick<
  ExportStatus,
  | 'state'
  | 'waitingUntil'
  | 'pausedUntil'
  | 'exit'
  | 'total'
  | 'totalExact'
  | 'rate'
  | 'etaMs'
  | 'creditsToday'
  | 'creditsLeft'
  | 'lastError'
  | 'elapsedMs'
  | 'bytes'
  | 'callsInFlight'
  | 'retries'
>;

interface Standing {
  /** Whether a process holds the export. */
  readonly isHeld: boolean;
  /** Entries that are committed or fetched. */
  readonly done: number;
  readonly inputBytes: number;
  readonly nowMs: number;
}

function unfinishedRun(last: LastRun | undefined, { isHeld, done, inputBytes, nowMs }: Standing): RunStatus {
  if (last === undefined) return { ...unrecorded, state: isHeld ? 'running' : 'stopped' };
  // A run that holds the export and has not begun is reading its inputs: the last one's end says nothing of it.
  const isRunning = isHeld && last.end === undefined;
  const waitingUntilMs = isRunning && (last.waitingUntilMs ?? 0) > nowMs ? last.waitingUntilMs : undefined;
  const { total, totalExact } = entriesOf(last, inputBytes);
  const ids = total === null ? undefined : Math.max(0, total - done);
  const { pace, workMs } = paceOf(last, ids ?? 0, nowMs);
  const rate = isRunning ? pace.idsPerSecond() : meanIdsPerSecond(last);
  const eta =
    isRunning && ids !== undefined && workMs !== undefined ? etaMs(last, { ids, workMs, waitingUntilMs, nowMs }) : null;
  return {
    state: waitingUntilMs !== undefined ? 'waiting' : isHeld ? 'running' : 'stopped',
    waitingUntil: waitingUntilMs === undefined ? null : new Date(waitingUntilMs).toISOString(),
    exit: isHeld ? null : (last.end?.exit ?? null),
    ...{ total, totalExact, rate, etaMs: eta, pausedUntil: isRunning ? pausedUntil(last, nowMs) : null },
    ...workOf(last, isRunning ? nowMs : last.lastMs),
    ...creditStatus(last, nowMs),
    lastError: last.lastError ?? null,
  };
}

/** What the last run did until a moment. */
function workOf(
  last: LastRun,
  untilMs: number,
): Pick<ExportStatus, 'elapsedMs' | 'bytes' | 'callsInFlight' | 'retries'> {
  const sum = (name: 'bytes' | 'sent' | 'answered'): number => last.spans.reduce((all, span) => all + span[name], 0);
  const inFlight = last.end === undefined ? sum('sent') - sum('answered') - last.retries : 0;
  return {
    elapsedMs: Math.max(0, untilMs - last.start.startMs),
    bytes: sum('bytes'),
    callsInFlight: Math.max(0, inFlight),
    retries: last.retries,
  };
}

function pausedUntil({ start, pauses }: LastRun, nowMs: number): string | null {
  const untilMs = start.startMs + (pauses.findLast(({ kind }) => kind === 'paused')?.untilT ?? 0);
  return untilMs > nowMs ? new Date(untilMs).toISOString() : null;
}

interface PartsSeen {
  readonly last: LastRun | undefined;
  readonly inputBytes: number;
  readonly rowsPerPart: number;
  /** Committed parts, and their entries. */
  readonly parts: number;
  readonly read: number;
}

function partsExpected({ last, inputBytes, rowsPerPart, parts, read }: PartsSeen): number | null {
  const total = last === undefined ? null : entriesOf(last, inputBytes).total;
  return total === null ? null : partsOfTotal({ total, rowsPerPart, parts, read });
}

interface IdsLeft {
  readonly ids: number;
  readonly workMs: number;
  readonly waitingUntilMs: number | undefined;
  readonly nowMs: number;
}

/** Null when the credits end before the ids, and nothing waits for more. */
function etaMs(last: LastRun, { nowMs, ...left }: IdsLeft): number | null {
  const creditsLeft = creditFigures(last, nowMs).left;
  const { ends, ms } = timeThroughBudget({ ...last.start, ...left, creditsLeft }, nowMs);
  return ends === 'ids' ? Math.round(ms) : null;
}

const unrecorded = {
  ...{ waitingUntil: null, exit: null, rate: null, etaMs: null },
  ...{ creditsToday: null, creditsLeft: null, lastError: null, pausedUntil: null },
  ...{ total: null, totalExact: false, elapsedMs: null, bytes: 0, callsInFlight: 0, retries: 0 },
};

function creditStatus(last: LastRun, nowMs: number): Pick<ExportStatus, 'creditsToday' | 'creditsLeft'> {
  const { today, left } = creditFigures(last, nowMs);
  return { creditsToday: today, creditsLeft: left ?? null };
}

/** Entries of all inputs, from what the last run has read of them. */
function entriesOf({ spans }: LastRun, inputBytes: number): Pick<ExportStatus, 'total' | 'totalExact'> {
  const last = spans.at(-1);
  if (last === undefined || last.read === 0 || last.inputBytes === 0) return { total: null, totalExact: false };
  const totalExact = last.inputBytes >= inputBytes;
  return { total: totalExact ? last.read : Math.round((last.read / last.inputBytes) * inputBytes), totalExact };
}

function completed(manifest: Manifest, lines: readonly RunLine[], nowMs: number): ExportStatus {
  const { counts, parts, calls, credits, inputs } = manifest;
  const last = lastRunOf(lines);
  return {
    ...unrecorded,
    state: 'complete',
    exit: last?.end?.exit ?? exitCodes.complete.code,
    ...(last === undefined
      ? {}
      : { rate: meanIdsPerSecond(last), ...workOf(last, last.lastMs), ...creditStatus(last, nowMs) }),
    lastError: last?.end?.error ?? null,
    ...{ counts, parts, calls, credits },
    ...{ total: counts.read, totalExact: true, partsTotal: parts },
    fetched: 0,
    inputShare: 1,
    inputs: inputs.map(({ name }) => name),
    owner: null,
    fleet: null,
    startedAt: null,
  };
}

/** How deep below a folder exports are looked for: `{date}` may stand within a path. */
const mostDepth = 3;

/** The folders at and below one that hold exports, in the order of their names. */
export async function exportFolders(files: FileStore, folder: string, depth = mostDepth): Promise<string[]> {
  const names = await files.list(folder);
  const isExport =
    names.includes(exportPaths.manifest) ||
    (await files.sizeOf(pathIn(folder, exportPaths.checkpoint))) !== undefined ||
    (await files.sizeOf(pathIn(folder, exportPaths.bucketStart))) !== undefined ||
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
