import type { FleetStanding } from '../../places/export/fleet-standing.ts';
import type { RunLine } from '../../core/run/record/run-lines.ts';
import { type RecordedRun, runsOf } from '../../core/run/record/runs-model.ts';
import { paceOf } from '../../core/run/record/run-figures.ts';
import { etaMs, pausedUntil, type RunStatus, serviceStatus, unfinishedRun, workOf } from './run-status.ts';

export interface FleetToShow {
  readonly fleet: FleetStanding;
  /** Of the records of all workers. */
  readonly lines: readonly RunLine[];
  readonly nowMs: number;
  /** Entries of committed parts. */
  readonly read: number;
  readonly fetched: number;
  readonly creditsLeft: number | null;
}

/** What workers do together, by their heartbeats and records. */
export function fleetStatus({ fleet, lines, nowMs, read, fetched, creditsLeft }: FleetToShow): RunStatus {
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
