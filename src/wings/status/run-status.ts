import type { ServiceState } from '../../core/client/asset-client.ts';
import { elapsedMsOf, meanIdsPerSecond, paceOf, type RecordedRun } from '../../core/run/history/run-history.ts';
import { entriesExpected, timeThroughBudget, type WorkAhead } from '../../core/run/history/run-figures.ts';

/** What the history says of a run. Times are ISO 8601; null means unknown or not applicable. */
export interface RunStatus {
  readonly state: 'complete' | 'running' | 'waiting' | 'stopped';
  /** What a live run believes of the service; absent when no process runs. */
  readonly service?: ServiceState;
  /** The same in words; null while the service works. */
  readonly serviceMessage: string | null;
  /** Until when a run waits for credits. */
  readonly waitingUntil: string | null;
  /** Exit status of the last run; null while one is running, and for one that was killed. */
  readonly exit: number | null;
  /** Entries of all inputs; an estimate until they are read to their end, which `totalExact` says. */
  readonly total: number | null;
  readonly totalExact: boolean;
  /** Ids a second: the recent speed of a live run, else that of the whole last run. */
  readonly rate: number | null;
  /** Milliseconds until the end of the export. */
  readonly etaMs: number | null;
  /** Of the last run: how long it has worked or did, in milliseconds, and what it did. */
  readonly elapsedMs: number | null;
  readonly bytes: number;
  readonly callsInFlight: number;
  /** Calls in flight that are let out; null where `concurrency` is a number. */
  readonly callsAtOnce: number | null;
  readonly retries: number;
  /** Until when all calls of a live run are paused. */
  readonly pausedUntil: string | null;
  /** The error that ended the last run, or the last reason for a retry or a pause of a live run. */
  readonly lastError: string | null;
}

export interface RunStanding {
  /** Whether a process holds the export. */
  readonly isHeld: boolean;
  /** Entries that are committed or fetched. */
  readonly done: number;
  readonly inputBytes: number;
  /** Entries that are read at most. */
  readonly limit?: number | undefined;
  readonly creditsLeft: number | null;
  readonly nowMs: number;
}

export function unfinishedRun(
  last: RecordedRun | undefined,
  { isHeld, done, inputBytes, limit, creditsLeft, nowMs }: RunStanding,
): RunStatus {
  if (last === undefined)
    return { ...unrecorded, state: isHeld ? 'running' : 'stopped', ...(isHeld ? serviceStatus([]) : {}) };
  // A run that holds the export and has not begun is reading its inputs: the last one's end says nothing of it.
  const isRunning = isHeld && last.end === undefined;
  const waitingUntilMs = isRunning && (last.waitingUntilMs ?? 0) > nowMs ? last.waitingUntilMs : undefined;
  const { total, totalExact } = entriesOf(last, { inputBytes, limit });
  const ids = total === null ? undefined : Math.max(0, total - done);
  const { pace, workMs } = paceOf(last, ids ?? 0, nowMs);
  const rate = isRunning ? pace.idsPerSecond() : meanIdsPerSecond(last);
  const eta =
    isRunning && ids !== undefined && workMs !== undefined
      ? etaMs(last, { ids, workMs, waitingUntilMs }, creditsLeft, nowMs)
      : null;
  return {
    state: waitingUntilMs !== undefined ? 'waiting' : isHeld ? 'running' : 'stopped',
    ...(isHeld ? serviceStatus(isRunning ? [last] : []) : { serviceMessage: null }),
    waitingUntil: waitingUntilMs === undefined ? null : new Date(waitingUntilMs).toISOString(),
    exit: isHeld ? null : (last.end?.exit ?? null),
    total,
    totalExact,
    rate,
    etaMs: eta,
    pausedUntil: isRunning ? pausedUntil(last, nowMs) : null,
    ...workOf(last, isRunning ? nowMs : undefined),
    lastError: last.lastError ?? null,
  };
}

/** The worst first: several workers are shown as the one that is in most trouble. */
const worstStates: readonly ServiceState[] = ['probing', 'slowed', 'searching', 'working'];

/** What live runs believe of the service; it works where they have not said anything. */
export function serviceStatus(live: readonly RecordedRun[]): Pick<RunStatus, 'service' | 'serviceMessage'> {
  const beliefs = live.map(({ service }) => service);
  const [worst] = beliefs.sort((a, b) => worstStates.indexOf(a.state) - worstStates.indexOf(b.state));
  if (worst === undefined || worst.state === 'working') return { service: 'working', serviceMessage: null };
  return { service: worst.state, serviceMessage: worst.message };
}

/** What a run did. @param nowMs while it works */
export function workOf(
  run: RecordedRun,
  nowMs?: number,
): Pick<RunStatus, 'elapsedMs' | 'bytes' | 'callsInFlight' | 'callsAtOnce' | 'retries'> {
  const { start, end, retries } = run;
  const { bytes, callsAtOnce = null } = run.work;
  return {
    elapsedMs: nowMs === undefined ? elapsedMsOf(run) : Math.max(0, nowMs - start.startMs),
    bytes,
    callsInFlight: end === undefined ? run.inFlight() : 0,
    callsAtOnce,
    retries,
  };
}

export function pausedUntil({ start, pauses }: RecordedRun, nowMs: number): string | null {
  const untilMs = start.startMs + (pauses.findLast(({ kind }) => kind === 'paused')?.untilT ?? 0);
  return untilMs > nowMs ? new Date(untilMs).toISOString() : null;
}

/** Null when the credits end before the ids, and nothing waits for more. */
export function etaMs(
  last: RecordedRun,
  left: Pick<WorkAhead, 'ids' | 'workMs' | 'waitingUntilMs'>,
  creditsLeft: number | null,
  nowMs: number,
): number | null {
  const ahead = { ...last.start, ...left, creditsLeft: creditsLeft ?? undefined };
  const { ends, ms } = timeThroughBudget(ahead, nowMs);
  return ends === 'ids' ? Math.round(ms) : null;
}

export const unrecorded = {
  serviceMessage: null,
  waitingUntil: null,
  exit: null,
  rate: null,
  etaMs: null,
  lastError: null,
  pausedUntil: null,
  total: null,
  totalExact: false,
  elapsedMs: null,
  bytes: 0,
  callsInFlight: 0,
  callsAtOnce: null,
  retries: 0,
};

/** Entries of all inputs, from what the last run has read of them. */
function entriesOf(
  { work }: RecordedRun,
  { inputBytes: inputBytesTotal, limit }: Pick<RunStanding, 'inputBytes' | 'limit'>,
): Pick<RunStatus, 'total' | 'totalExact'> {
  const { read, inputBytes } = work;
  const { total, totalExact } = entriesExpected({ read, inputBytes, inputBytesTotal, limit });
  return { total: total ?? null, totalExact };
}
