import { utcDay } from '../../lib/clock.ts';
import type { RunLine, RunSpan } from '../../core/run/history/run-lines.ts';
import { elapsedMsOf, meanIdsPerSecond, type RecordedRun, runsOf } from '../../core/run/history/run-history.ts';
import { heldBetween } from '../../core/run/history/run-figures.ts';

/** How one run went. Times are milliseconds since 1970 UTC unless they say otherwise. */
export interface RunFacts {
  /** Counts the runs of the export from 1. */
  readonly n: number;
  readonly beganMs: number;
  /** The end of its last span: of a killed run that is all there is. */
  readonly endedMs: number;
  readonly calls: number;
  readonly credits: number;
  /** Ids whose fate answers of the service decided. */
  readonly ids: number;
  /** Ids whose answers earlier runs had kept. */
  readonly fromJournal: number;
  readonly retries: number;
  readonly parts: number;
  readonly ended: 'complete' | 'stopped' | 'killed' | 'goes on';
  readonly exit: number | null;
  readonly error: string | null;
}

/** A time in which no call was sent. */
export interface Pause {
  readonly fromMs: number;
  readonly toMs: number;
  readonly kind: 'paused' | 'waiting';
  readonly reason: string;
  /** How many pauses it stands for. */
  readonly times: number;
}

/** A part from the commit before it, or the start of its run, to its own. */
export interface PartBar {
  readonly part: number;
  readonly fromMs: number;
  readonly toMs: number;
  readonly rows: number;
  /** How many parts it stands for. */
  readonly parts: number;
}

export interface Counted {
  readonly name: string;
  readonly count: number;
}

export interface CallTime {
  /** Upper bound in seconds; null for those above the last bound. */
  readonly upToSeconds: number | null;
  readonly calls: number;
}

/** What the history of an export says of its runs. */
export interface RunsData {
  readonly runs: readonly RunFacts[];
  /** Time in which a run worked, without the gaps between runs, in milliseconds. */
  readonly workedMs: number;
  readonly idsPerSecond: number;
  /** Most calls in flight, as the last run found it. */
  readonly callsAtOnce: number | undefined;
  readonly retries: number;
  readonly pausedMs: number;
  readonly paused: number;
  readonly waitedMs: number;
  /** Ids answered a second: the width of a step, and the steps of each run. */
  readonly speed: { readonly stepMs: number; readonly runs: readonly (readonly number[])[] };
  readonly pauses: readonly Pause[];
  readonly retriedAtMs: readonly number[];
  readonly parts: readonly PartBar[];
  readonly callTimes: readonly CallTime[];
  /** Upper bounds of the classes in which these calls lie, in seconds; null: above the last. */
  readonly p50: number | null;
  readonly p95: number | null;
  readonly longestMs: number | null;
  readonly retryReasons: readonly Counted[];
  readonly creditDays: readonly Counted[];
  /** Limit of credits a UTC day in the last run. */
  readonly creditsPerDay: number | null;
  readonly creditsPerCall: number;
  readonly idsPerCall: number;
  /** When a waiting run continues. */
  readonly waitingUntilMs: number | null;
  /** Entries that the last run has read. */
  readonly read: number;
}

/** Reads the history; undefined when there is none. @param isHeld whether a process works on the export now */
export function runsData(lines: readonly RunLine[], isHeld: boolean): RunsData | undefined {
  const runs = runsOf(lines);
  const last = runs.at(-1);
  if (last === undefined) return undefined;
  const spans = runs.flatMap((run) => run.spans);
  const workedMs = sum(runs, elapsedMsOf);
  const pauses = runs.flatMap(pausesOf);
  const retries = runs.flatMap(({ lines: own }) => own.filter((line) => line.kind === 'retry'));
  const callTimes = callTimesOf(spans);
  return {
    runs: runs.map((run) => factsOf(run, isHeld && run === last)),
    workedMs,
    idsPerSecond: meanIdsPerSecond(...runs),
    callsAtOnce: last.work.callsAtOnce,
    retries: sum(runs, (run) => run.retries),
    pausedMs: heldMs(runs, 'paused'),
    paused: sum(pauses, ({ kind, times }) => (kind === 'paused' ? times : 0)),
    waitedMs: heldMs(runs, 'waiting'),
    speed: speedOf(runs, workedMs),
    pauses,
    retriedAtMs: runs.flatMap(({ start, lines: own }) =>
      own.flatMap((line) => (line.kind === 'retry' ? [start.startMs + line.t] : [])),
    ),
    parts: runs.flatMap(barsOf),
    callTimes,
    ...percentiles(callTimes),
    longestMs: longestOf(spans),
    retryReasons: counted(retries.map(({ reason, times = 1 }) => [reason, times])),
    creditDays: creditDaysOf(runs),
    creditsPerDay: last.start.creditsPerDay ?? null,
    creditsPerCall: last.start.creditsPerCall,
    idsPerCall: last.start.idsPerCall,
    waitingUntilMs: last.waitingUntilMs ?? null,
    read: last.work.read,
  };
}

function factsOf(run: RecordedRun, isLive: boolean): RunFacts {
  const { start, end, endedMs, retries, parts } = run;
  const { sent: calls, ids, replayed: fromJournal } = run.work;
  return {
    n: start.n,
    beganMs: start.startMs,
    endedMs,
    calls,
    credits: calls * start.creditsPerCall,
    ids,
    fromJournal,
    retries,
    parts,
    ended: end?.state ?? (isLive ? 'goes on' : 'killed'),
    exit: end?.exit ?? null,
    error: end?.error ?? null,
  };
}

function pausesOf({ start, pauses, endedMs }: RecordedRun): Pause[] {
  return pauses.map(({ kind, t, untilT, reason, times }) => {
    const fromMs = start.startMs + t;
    // A run that stops ends its pause.
    const toMs = Math.max(fromMs, Math.min(start.startMs + untilT, endedMs));
    return { fromMs, toMs, kind, reason, times };
  });
}

function heldMs(runs: readonly RecordedRun[], kind: Pause['kind']): number {
  return sum(runs, (run) => {
    const ofKind = run.pauses.filter((pause) => pause.kind === kind);
    return heldBetween(ofKind, 0, elapsedMsOf(run));
  });
}

function barsOf({ start, lines }: RecordedRun): PartBar[] {
  let fromMs = start.startMs;
  return lines.flatMap((line): PartBar[] => {
    if (line.kind !== 'committed') return [];
    const toMs = start.startMs + line.t;
    const bar = { part: line.part, fromMs, toMs, rows: line.exported, parts: line.times ?? 1 };
    fromMs = toMs;
    return [bar];
  });
}

/** About so many steps for all runs together. */
const mostSteps = 180;
const stepsMs = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000];

function speedOf(runs: readonly RecordedRun[], workedMs: number): RunsData['speed'] {
  const least = workedMs / mostSteps;
  const hours = Math.ceil(least / 3_600_000) * 3_600_000;
  const stepMs = stepsMs.find((step) => step >= least) ?? (least <= 1_800_000 ? 1_800_000 : hours);
  return { stepMs, runs: runs.map((run) => stepsOf(run, stepMs)) };
}

/** Ids a second in each step of a run. The ids of a span are spread over the time that its calls took. */
function stepsOf(run: RecordedRun, stepMs: number): number[] {
  const lengthMs = elapsedMsOf(run);
  const ids = new Array<number>(Math.max(1, Math.ceil(lengthMs / stepMs))).fill(0);
  for (const span of run.spans) {
    if (span.ids === 0) continue;
    const callMs = span.answered === 0 ? 0 : (span.tookMs ?? 0) / span.answered;
    const fromMs = Math.max(0, span.t - callMs);
    const spreadMs = Math.max(1, span.t + span.ms - fromMs);
    const firstStep = Math.floor(fromMs / stepMs);
    for (let step = firstStep; step < ids.length && step * stepMs < fromMs + spreadMs; step += 1) {
      const overlap = Math.min((step + 1) * stepMs, fromMs + spreadMs) - Math.max(step * stepMs, fromMs);
      ids[step] = (ids[step] ?? 0) + (span.ids * Math.max(0, overlap)) / spreadMs;
    }
  }
  // The last step may be cut by the end of the run.
  return ids.map((count, step) => Math.round((count / Math.max(1, Math.min(stepMs, lengthMs - step * stepMs))) * 1000));
}

function callTimesOf(spans: readonly RunSpan[]): CallTime[] {
  const counts = new Map<string, number>();
  for (const { callMs } of spans) {
    for (const [bound, calls] of Object.entries(callMs)) counts.set(bound, (counts.get(bound) ?? 0) + calls);
  }
  const classes = [...counts].map(([bound, calls]) => ({ bound: bound === '+Inf' ? Infinity : Number(bound), calls }));
  return classes
    .filter(({ bound, calls }) => bound > 0 && calls > 0)
    .sort((a, b) => a.bound - b.bound)
    .map(({ bound, calls }) => ({ upToSeconds: bound === Infinity ? null : bound, calls }));
}

function percentiles(callTimes: readonly CallTime[]): Pick<RunsData, 'p50' | 'p95'> {
  const all = sum(callTimes, ({ calls }) => calls);
  const at = (share: number): number | null => {
    let below = 0;
    for (const { upToSeconds, calls } of callTimes) {
      below += calls;
      if (below >= all * share) return upToSeconds;
    }
    return null;
  };
  return { p50: at(0.5), p95: at(0.95) };
}

function longestOf(spans: readonly RunSpan[]): number | null {
  const known = spans.flatMap(({ longestMs }) => longestMs ?? []);
  return known.length === 0 ? null : Math.max(...known);
}

function creditDaysOf(runs: readonly RecordedRun[]): Counted[] {
  const days = new Map<string, number>();
  for (const run of runs) {
    for (const { t, sent } of run.spans.filter((span) => span.sent > 0)) {
      const day = utcDay(run.start.startMs + t);
      days.set(day, (days.get(day) ?? 0) + sent * run.start.creditsPerCall);
    }
  }
  return [...days].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => ({ name, count }));
}

/** Sums by name, the largest first. */
export function counted(pairs: Iterable<readonly [string, number]>): Counted[] {
  const sums = new Map<string, number>();
  for (const [name, count] of pairs) sums.set(name, (sums.get(name) ?? 0) + count);
  return [...sums]
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1));
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
