import type { ServiceState } from '../client/client-events.ts';
import { dayMs, nextUtcMidnight, utcDay } from '../lib/clock.ts';
import type { Counts } from '../store/export-facts.ts';
import type { RunLine, RunSpan, RunStart } from '../store/runs/run-lines.ts';
import { RunPace } from './run-pace.ts';

/** What the record of an export says of its last run. */
export interface LastRun {
  readonly start: RunStart;
  readonly spans: readonly RunSpan[];
  /** Attempts after the first of their call. */
  readonly retries: number;
  /** When all calls were paused or waited for credits, in milliseconds since the run began. */
  readonly pauses: readonly { readonly kind: 'paused' | 'waiting'; readonly t: number; readonly untilT: number }[];
  /** Until when it waits for credits; undefined when it never did. Milliseconds since 1970 UTC. */
  readonly waitingUntilMs: number | undefined;
  /** What it believes of the service, and why, in words: empty while the service works. */
  readonly service: { readonly state: ServiceState; readonly message: string };
  /** How it ended; undefined for a live run and for one that was killed. */
  readonly end: Extract<RunLine, { kind: 'end' }> | undefined;
  /** The error that it ended with; without an end, the last reason for a retry or a pause. */
  readonly lastError: string | undefined;
  /** When that was, in milliseconds since 1970 UTC. */
  readonly lastErrorMs: number;
  /** Milliseconds since 1970 UTC of its last line. */
  readonly lastMs: number;
}

/** The last run of a record, or undefined when it holds none. */
export function lastRunOf(lines: readonly RunLine[]): LastRun | undefined {
  const at = lines.findLastIndex(({ kind }) => kind === 'run');
  const start = lines[at];
  if (start?.kind !== 'run') return undefined;
  const own = lines.slice(at + 1);
  const end = own.findLast((line) => line.kind === 'end');
  const trouble = own.findLast((line) => 'reason' in line);
  const spans = own.filter((line) => line.kind === 'span');
  const lastT = own.reduce((most, line) => ('t' in line ? Math.max(most, line.t) : most), 0);
  return {
    start,
    spans,
    retries: own.reduce((sum, line) => (line.kind === 'retry' ? sum + (line.times ?? 1) : sum), 0),
    pauses: own.flatMap((line) =>
      line.kind === 'paused' || line.kind === 'waiting'
        ? [
            {
              kind: line.kind,
              t: line.t,
              untilT: line.heldMs === undefined ? line.untilMs - start.startMs : line.t + line.heldMs,
            },
          ]
        : [],
    ),
    waitingUntilMs: own.findLast((line) => line.kind === 'waiting')?.untilMs,
    service: own.findLast((line) => line.kind === 'service') ?? { state: 'working', message: '' },
    end,
    lastError: end === undefined ? trouble?.reason : end.error,
    lastErrorMs: start.startMs + ((end ?? trouble)?.t ?? 0),
    lastMs: start.startMs + lastT,
  };
}

/** All runs of a record. */
export function runsOf(lines: readonly RunLine[]): LastRun[] {
  const starts = lines.flatMap(({ kind }, index) => (kind === 'run' ? [index] : []));
  return starts.flatMap((start, index) => lastRunOf(lines.slice(start, starts[index + 1])) ?? []);
}

/** Entries whose ids were requested. */
export function askedIds({ exported, missing, failed }: Counts): number {
  return exported + missing + failed;
}

/** Ids whose answers are kept and lie in no committed part. `counts` are those of the committed parts now. */
export function fetchedIds(lines: readonly RunLine[], counts: Counts): number {
  const last = lastRunOf(lines);
  if (last === undefined) return 0;
  const sum = (name: 'ids' | 'replayed'): number => last.spans.reduce((total, span) => total + span[name], 0);
  // A run that was killed may have kept more than it recorded: the next one finds it.
  const before = Math.max(last.start.fetched, sum('replayed'));
  return Math.max(0, before + sum('ids') - (askedIds(counts) - last.start.written));
}

/** Ids a second over the whole of a run. */
export function meanIdsPerSecond({ start, spans, lastMs }: LastRun): number {
  const ids = spans.reduce((sum, span) => sum + span.ids, 0);
  return lastMs <= start.startMs ? 0 : (ids / (lastMs - start.startMs)) * 1000;
}

/** The speed of a live run, and the milliseconds that its calls need for so many ids more, according to its record. */
export function paceOf(run: LastRun, idsLeft: number, nowMs: number): { pace: RunPace; workMs: number | undefined } {
  const { start, spans, pauses, retries } = run;
  const whole = spans.reduce((sum, span) => sum + span.ids, 0);
  const pace = new RunPace(start.startMs + (spans.find(({ sent }) => sent > 0)?.t ?? 0));
  let ids = 0;
  let answers = 0;
  let sent = 0;
  let beforeT = 0;
  let workMs: number | undefined;
  const look = (t: number): void => {
    const heldMs = (kind: 'paused' | 'waiting'): number =>
      heldBetween(
        pauses.filter((pause) => pause.kind === kind),
        beforeT,
        t,
      );
    const pausedMs = heldMs('paused');
    const idsInFlight = Math.max(0, sent - answers - retries) * start.idsPerCall;
    pace.look({
      nowMs: start.startMs + t,
      ids,
      idsInFlight,
      answers,
      pausedMs,
      waitedMs: Math.min(heldMs('waiting'), t - beforeT - pausedMs),
    });
    workMs = pace.timeLeft(idsLeft + whole - ids, 0);
    beforeT = t;
  };
  for (const span of spans) {
    ids += span.ids;
    answers += span.answered;
    sent += span.sent;
    look(span.t + span.ms);
  }
  if (nowMs > start.startMs + beforeT) look(nowMs - start.startMs);
  return { pace, workMs };
}

/** Milliseconds between two moments in which calls were held back. */
function heldBetween(pauses: LastRun['pauses'], fromT: number, untilT: number): number {
  let sum = 0;
  let countedT = fromT;
  for (const pause of pauses) {
    const begin = Math.max(countedT, pause.t);
    const end = Math.min(untilT, pause.untilT);
    if (end > begin) sum += end - begin;
    countedT = Math.max(countedT, end);
  }
  return sum;
}

export interface CreditFigures {
  /** Booked on the UTC day of `nowMs`, according to the record. */
  readonly today: number;
  /** What the tightest limit leaves; undefined without a limit. */
  readonly left: number | undefined;
}

export function creditFigures({ start, spans, end, lastMs }: LastRun, nowMs: number): CreditFigures {
  const booked = spans.findLast((span) => span.booked !== undefined)?.booked ?? 0;
  const today = utcDay(lastMs) === utcDay(nowMs) ? booked : 0;
  const sent = spans.reduce((sum, span) => sum + span.sent, 0) * start.creditsPerCall;
  const limits = [
    ...(start.creditsPerDay === undefined ? [] : [start.creditsPerDay - today]),
    // The next run may spend as much again.
    ...(start.creditsPerRun === undefined || end !== undefined ? [] : [start.creditsPerRun - sent]),
  ];
  return { today, left: limits.length === 0 ? undefined : Math.max(0, Math.min(...limits)) };
}

/** What is left to fetch, and the credits for it. */
export interface WorkAhead {
  /** Milliseconds for all of it, without waits for credits. */
  readonly workMs: number;
  readonly ids: number;
  readonly idsPerCall: number;
  readonly creditsPerCall: number;
  /** Undefined without a limit. */
  readonly creditsLeft: number | undefined;
  readonly creditsPerDay?: number | undefined;
  readonly whenSpent: 'stop' | 'wait';
  /** Until when nothing is sent, because a day's credits are spent. Milliseconds since 1970 UTC. */
  readonly waitingUntilMs?: number | undefined;
}

export interface TimeLeft {
  /** Whether the ids come to their end, or the credits before. */
  readonly ends: 'ids' | 'budget';
  readonly ms: number;
  /** UTC days that follow the one on which calls go on; 0 where nothing waits. */
  readonly moreDays: number;
}

/** Milliseconds until the end of the work, with the nights that it waits for credits. */
export function timeThroughBudget(ahead: WorkAhead, nowMs: number): TimeLeft {
  const { workMs, creditsPerDay, creditsPerCall, idsPerCall, whenSpent, waitingUntilMs } = ahead;
  const credits = Math.ceil(ahead.ids / idsPerCall) * creditsPerCall;
  const available = waitingUntilMs === undefined ? ahead.creditsLeft : 0;
  if (available === undefined || credits <= available) return { ends: 'ids', ms: workMs, moreDays: 0 };
  if (whenSpent === 'stop' || creditsPerDay === undefined) {
    const affordable = Math.floor(available / creditsPerCall) * creditsPerCall;
    return { ends: 'budget', ms: workMs * (affordable / credits), moreDays: 0 };
  }
  const days = Math.ceil((credits - available) / creditsPerDay);
  const onLastDay = credits - available - (days - 1) * creditsPerDay;
  const resumesMs = waitingUntilMs ?? nextUtcMidnight(nowMs);
  const ms = resumesMs - nowMs + (days - 1) * dayMs + workMs * (onLastDay / credits);
  return { ends: 'ids', ms, moreDays: days - 1 };
}

/** How many parts a whole input gives, from the entries of the parts that there are or, before the first, from the job. */
export function partsOfTotal(seen: {
  readonly total: number;
  readonly rowsPerPart: number;
  readonly parts: number;
  readonly read: number;
}): number {
  const { total, rowsPerPart, parts, read } = seen;
  const entriesAPart = parts === 0 ? rowsPerPart : read / parts;
  return Math.max(parts + (total > read ? 1 : 0), Math.ceil(total / entriesAPart - 0.01), 1);
}
