import type { ServiceState } from '../client/client-events.ts';
import {
  creditFigures,
  type LastRun,
  meanIdsPerSecond,
  paceOf,
  partsOfTotal,
  timeThroughBudget,
} from './run-figures.ts';

/** What the record of a run says. Times are ISO 8601; null means unknown or not applicable. */
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
  readonly retries: number;
  /** Until when all calls of a live run are paused. */
  readonly pausedUntil: string | null;
  /** Credits booked on this UTC day by all who share the ledger, when the export last looked; and what the limits leave. */
  readonly creditsToday: number | null;
  readonly creditsLeft: number | null;
  /** The error that ended the last run, or the last reason for a retry or a pause of a live run. */
  readonly lastError: string | null;
}

export interface RunStanding {
  /** Whether a process holds the export. */
  readonly isHeld: boolean;
  /** Entries that are committed or fetched. */
  readonly done: number;
  readonly inputBytes: number;
  readonly nowMs: number;
}

export function unfinishedRun(last: LastRun | undefined, { isHeld, done, inputBytes, nowMs }: RunStanding): RunStatus {
  if (last === undefined)
    return { ...unrecorded, state: isHeld ? 'running' : 'stopped', ...(isHeld ? serviceStatus([]) : {}) };
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
    ...(isHeld ? serviceStatus(isRunning ? [last] : []) : { serviceMessage: null }),
    waitingUntil: waitingUntilMs === undefined ? null : new Date(waitingUntilMs).toISOString(),
    exit: isHeld ? null : (last.end?.exit ?? null),
    ...{ total, totalExact, rate, etaMs: eta, pausedUntil: isRunning ? pausedUntil(last, nowMs) : null },
    ...workOf(last, isRunning ? nowMs : last.lastMs),
    ...creditStatus(last, nowMs),
    lastError: last.lastError ?? null,
  };
}

/** The worst first: several workers are shown as the one that is in most trouble. */
const worstStates: readonly ServiceState[] = ['probing', 'slowed', 'searching', 'working'];

/** What live runs believe of the service; it works where they have not said anything. */
export function serviceStatus(live: readonly LastRun[]): Pick<RunStatus, 'service' | 'serviceMessage'> {
  const beliefs = live.map(({ service }) => service);
  const [worst] = beliefs.sort((a, b) => worstStates.indexOf(a.state) - worstStates.indexOf(b.state));
  if (worst === undefined || worst.state === 'working') return { service: 'working', serviceMessage: null };
  return { service: worst.state, serviceMessage: worst.message };
}

/** What the last run did until a moment. */
export function workOf(
  last: LastRun,
  untilMs: number,
): Pick<RunStatus, 'elapsedMs' | 'bytes' | 'callsInFlight' | 'retries'> {
  const sum = (name: 'bytes' | 'sent' | 'answered'): number => last.spans.reduce((all, span) => all + span[name], 0);
  const inFlight = last.end === undefined ? sum('sent') - sum('answered') - last.retries : 0;
  return {
    elapsedMs: Math.max(0, untilMs - last.start.startMs),
    bytes: sum('bytes'),
    callsInFlight: Math.max(0, inFlight),
    retries: last.retries,
  };
}

export function pausedUntil({ start, pauses }: LastRun, nowMs: number): string | null {
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

export function partsExpected({ last, inputBytes, rowsPerPart, parts, read }: PartsSeen): number | null {
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
export function etaMs(last: LastRun, { nowMs, ...left }: IdsLeft): number | null {
  const creditsLeft = creditFigures(last, nowMs).left;
  const { ends, ms } = timeThroughBudget({ ...last.start, ...left, creditsLeft }, nowMs);
  return ends === 'ids' ? Math.round(ms) : null;
}

export const unrecorded = {
  ...{ serviceMessage: null, waitingUntil: null, exit: null, rate: null, etaMs: null },
  ...{ creditsToday: null, creditsLeft: null, lastError: null, pausedUntil: null },
  ...{ total: null, totalExact: false, elapsedMs: null, bytes: 0, callsInFlight: 0, retries: 0 },
};

export function creditStatus(last: LastRun, nowMs: number): Pick<RunStatus, 'creditsToday' | 'creditsLeft'> {
  const { today, left } = creditFigures(last, nowMs);
  return { creditsToday: today, creditsLeft: left ?? null };
}

/** Entries of all inputs, from what the last run has read of them. */
function entriesOf({ spans }: LastRun, inputBytes: number): Pick<RunStatus, 'total' | 'totalExact'> {
  const last = spans.at(-1);
  if (last === undefined || last.read === 0 || last.inputBytes === 0) return { total: null, totalExact: false };
  const totalExact = last.inputBytes >= inputBytes;
  return { total: totalExact ? last.read : Math.round((last.read / last.inputBytes) * inputBytes), totalExact };
}
