import { dayMs, nextUtcMidnight, utcDay } from '../../../lib/clock.ts';
import type { RunSpan } from './run-lines.ts';
import type { Counts } from '../../../places/export/export-facts.ts';
import type { Manifest } from '../../../places/export/manifest.ts';

/** What a speed comes from, in milliseconds since the run began. */
export interface WorkDone {
  readonly pauses: readonly { readonly kind: 'paused' | 'waiting'; readonly t: number; readonly untilT: number }[];
  readonly spans: readonly Pick<RunSpan, 't' | 'ms' | 'ids' | 'sent'>[];
  /** Ids of the calls that have no answer yet. */
  readonly inFlight: number;
}

/** Before a run is so old, the time left would be a guess, in milliseconds. */
export const leastGuessMs = 5000;

/** A speed is a mean over so much work. */
const recentMs = 60_000;

/** The speed of a live run over the last minute of its work, without pauses and waits for credits. */
export class Pace {
  readonly #work: WorkDone;
  readonly #nowT: number;

  constructor(work: WorkDone, nowT: number) {
    this.#work = work;
    this.#nowT = nowT;
  }

  idsPerSecond(): number {
    const { spans, inFlight } = this.#work;
    // Before its first call a run reads ids.
    const firstT = spans.find(({ sent }) => sent > 0)?.t ?? this.#nowT;
    let ids = 0;
    let fromT = this.#nowT;
    for (const span of spans.toReversed()) {
      if (span.t < firstT) break;
      // What a span brought was under way before it: a full minute begins behind one.
      const endT = span.t + span.ms;
      const isFull = ids > 0 && this.#workedSince(endT) >= recentMs;
      fromT = isFull ? endT : span.t;
      if (isFull) break;
      ids += span.ids;
    }
    // Without what is under way, the time of the first calls would count against the speed. It is half done on average.
    if (ids > 0 && fromT === firstT) ids += inFlight / 2;
    const workedMs = this.#workedSince(fromT);
    return workedMs <= 0 ? 0 : (ids / workedMs) * 1000;
  }

  #workedSince(fromT: number): number {
    return this.#nowT - fromT - heldBetween(this.#work.pauses, fromT, this.#nowT);
  }

  /** Milliseconds for so many ids more, with the rest of a pause; undefined until one was fetched. */
  msFor(ids: number): number | undefined {
    const idsPerSecond = this.idsPerSecond();
    if (idsPerSecond === 0) return undefined;
    const pausedUntilT = this.#work.pauses.findLast(({ kind }) => kind === 'paused')?.untilT ?? 0;
    return Math.max(0, pausedUntilT - this.#nowT) + (ids / idsPerSecond) * 1000;
  }
}

/** Milliseconds between two moments in which calls were held back, counted once where pauses overlap. */
export function heldBetween(pauses: WorkDone['pauses'], fromT: number, untilT: number): number {
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

/** Limits in credits, of which those that are absent do not hold, and the price of a call. */
export interface PricedLimits {
  readonly creditsPerRun?: number | undefined;
  readonly creditsPerDay?: number | undefined;
  readonly creditsPerCall: number;
}

/** What the limits leave while a run sends calls. Each UTC day has its own. */
export class CreditsLeft {
  readonly #limits: PricedLimits;
  #day: string;
  /** Booked on this day before the run, and the calls of the run on earlier days. */
  #booked: number;
  #callsBefore = 0;

  /** @param booked on the UTC day of `nowMs`, before the run */
  constructor(limits: PricedLimits, booked: number, nowMs: number) {
    this.#limits = limits;
    this.#booked = booked;
    this.#day = utcDay(nowMs);
  }

  /** What the tightest limit leaves after so many calls; undefined without a limit. @param bookedByAll on this UTC day, where others share the ledger */
  after(calls: number, nowMs: number, bookedByAll = 0): number | undefined {
    const { creditsPerCall } = this.#limits;
    if (utcDay(nowMs) !== this.#day) {
      this.#day = utcDay(nowMs);
      this.#callsBefore = calls;
      this.#booked = 0;
    }
    const today = Math.max(bookedByAll, this.#booked + (calls - this.#callsBefore) * creditsPerCall);
    return creditsLeftOf(this.#limits, { today, ofRun: calls * creditsPerCall });
  }
}

/** What the tightest limit leaves; undefined without a limit. @param spent credits of the UTC day in its ledger, and of a run that works */
export function creditsLeftOf(
  { creditsPerDay, creditsPerRun }: Omit<PricedLimits, 'creditsPerCall'>,
  spent: { readonly today: number; readonly ofRun?: number | undefined },
): number | undefined {
  const limits = [
    ...(creditsPerDay === undefined ? [] : [creditsPerDay - spent.today]),
    // The next run may spend as much again.
    ...(creditsPerRun === undefined || spent.ofRun === undefined ? [] : [creditsPerRun - spent.ofRun]),
  ];
  return limits.length === 0 ? undefined : Math.max(0, Math.min(...limits));
}

/** Entries whose ids were requested. */
export function askedIds({ exported, missing, failed }: Counts): number {
  return exported + missing + failed;
}

/** Ids whose answers are kept and lie in no committed part. A run that was killed may have kept more than it recorded: the next one finds it. */
export function fetchedNow({
  before,
  replayed,
  ids,
  written,
}: {
  /** Ids that were fetched and not written when the run began, as far as its record knew, and those that it found kept. */
  readonly before: number;
  readonly replayed: number;
  /** Ids that the service has answered in the run. */
  readonly ids: number;
  /** Requested ids in parts that were committed since it began. */
  readonly written: number;
}): number {
  return Math.max(0, Math.max(before, replayed) + ids - written);
}

/** Entries of all inputs, of those up to the limit: known when they are read, estimated from their bytes before. */
export function entriesExpected({
  read,
  inputBytes,
  inputBytesTotal,
  limit = Number.POSITIVE_INFINITY,
}: {
  /** Entries, and bytes of the inputs, that were read so far. */
  readonly read: number;
  readonly inputBytes: number;
  /** Of all inputs. */
  readonly inputBytesTotal: number;
  /** Entries that are read at most. */
  readonly limit?: number | undefined;
}): {
  readonly total: number | undefined;
  readonly totalExact: boolean;
} {
  if (read === 0 || inputBytes === 0) return { total: undefined, totalExact: false };
  const totalExact = inputBytes >= inputBytesTotal || read >= limit;
  return { total: totalExact ? read : Math.min(limit, Math.round((read / inputBytes) * inputBytesTotal)), totalExact };
}

/** How far an export is, in the figures that every view of it shows. */
export interface AccountFigures {
  /** Rows of `assets` in committed parts: exported and carried. */
  readonly rows: number;
  /** Ids whose answers are paid for and kept, and that lie in no committed part. */
  readonly fetched: number;
  /** Known entries that lie in no committed part, with those that are fetched. */
  readonly pending: number;
  /** What the tightest limit of credits leaves; null without a limit. */
  readonly creditsLeft: number | null;
  /** Ids of the base that are not listed now; null without a base, and until the export is complete. */
  readonly unlisted: number | null;
}

/** The one place that makes the figures of an account. */
export function accountFigures({
  counts,
  read,
  fetched,
  creditsLeft,
  unlisted,
}: {
  /** Of the committed parts. */
  readonly counts: Counts;
  /** Entries that are known. */
  readonly read: number;
  readonly fetched: number;
  readonly creditsLeft?: number | undefined;
  readonly unlisted?: number | undefined;
}): AccountFigures {
  return {
    rows: counts.exported + counts.carried,
    fetched,
    pending: Math.max(read - counts.read, fetched),
    creditsLeft: creditsLeft ?? null,
    unlisted: unlisted ?? null,
  };
}

/** The figures of a complete export, but what its ledger holds. */
export function manifestFigures({ counts, base }: Pick<Manifest, 'counts' | 'base'>): AccountFigures {
  return accountFigures({ counts, read: counts.read, fetched: 0, unlisted: base?.unlisted });
}
