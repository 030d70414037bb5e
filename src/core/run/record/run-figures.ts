import { dayMs, nextUtcMidnight } from '../../../lib/clock.ts';
import type { RecordedRun } from './runs-model.ts';
import { RunPace } from './run-pace.ts';

/** The speed of a live run, and the milliseconds that its calls need for so many ids more, according to its record. */
export function paceOf(
  run: RecordedRun,
  idsLeft: number,
  nowMs: number,
): { pace: RunPace; workMs: number | undefined } {
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
function heldBetween(pauses: RecordedRun['pauses'], fromT: number, untilT: number): number {
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
