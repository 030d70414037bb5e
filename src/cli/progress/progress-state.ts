import { plural } from '../../lib/format-text.ts';
import {
  askedIds,
  CreditsLeft,
  leastGuessMs,
  Pace,
  partsOfTotal,
  type TimeLeft,
  timeThroughBudget,
  type WorkDone,
} from '../../core/run/history/run-figures.ts';
import type { Holding } from '../../core/work/held-bytes.ts';
import type { RunEvent } from '../../core/work/run-events.ts';
import { type CallPause, RunFold } from '../../core/run/history/run-fold.ts';
import type { ProgressFacts } from './progress-text.ts';
import type { ProgressOptions } from './progress.ts';

const leastAnswers = 2;

/** Spans are at least so long, and no more are kept: a minute of work is all that counts. */
const spanMs = 1000;
const mostSpans = 120;

/** What the progress block shows of a run. */
export class ProgressState {
  readonly #options: ProgressOptions;
  readonly #beganMs: number;
  readonly #fold = new RunFold();
  /** Answers that earlier runs kept. */
  #answersKept = 0;
  /** What each thread holds in memory for its calls. */
  readonly #holding = new Map<number, Holding>();
  /** As the history of the runs has them. */
  readonly #spans: { t: number; ms: number; ids: number; sent: number }[] = [];
  #pauses: WorkDone['pauses'] = [];
  /** What the last look saw. */
  #seen = { t: 0, ids: 0, sent: 0, answered: 0 };
  readonly #credits: CreditsLeft;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#beganMs = options.clock.monotonic();
    this.#credits = new CreditsLeft(options.budget, options.budget.bookedBefore, options.clock.now());
  }

  add(event: RunEvent): void {
    this.#fold.add(event);
    switch (event.kind) {
      case 'sent':
        this.#endPause();
        return;
      case 'opened':
        this.#answersKept = event.answers;
        return;
      case 'paused':
      case 'waiting':
        this.#addPause(event);
        return;
      case 'holding':
        this.#holding.set(event.thread, event);
    }
  }

  /** What to show now. Each look is a sample of the speed. */
  look(): ProgressFacts {
    const nowMs = this.#options.clock.now();
    const pause = this.#fold.pauseAt(nowMs);
    this.#addSpan();
    const pace = this.#pace();
    const { work, retries, parts, committed, service } = this.#fold;
    const { sent, bytes } = work;
    const counts = this.#fold.counts();
    const { total, totalExact } = this.#fold.total();
    const creditsLeft = this.#credits.after(sent, nowMs);
    const left = total === undefined ? undefined : this.#left(total - counts.read, pace, pause, creditsLeft);
    const { exported, carried, missing, invalid, duplicate, failed } = counts;
    const seen = { rowsPerPart: this.#options.rowsPerPart, parts, read: committed.read };
    return {
      nowMs,
      elapsedMs: this.#t(),
      done: counts.read,
      total,
      totalExact,
      fates: { exported, carried, missing, invalid, duplicate, failed },
      parts,
      partsTotal: total === undefined ? undefined : partsOfTotal({ total, ...seen }),
      idsPerSecond: pace.idsPerSecond(),
      ...(left === undefined || !this.#isKnown() ? {} : { left }),
      calls: sent,
      callsInFlight: this.#fold.inFlight(),
      callsAtOnce: work.callsAtOnce,
      retries,
      bytes,
      credits: sent * this.#options.budget.creditsPerCall,
      creditsLeft,
      pause: pause === undefined ? undefined : { ...pause, moreDays: left?.moreDays ?? 0 },
      service: service.state === 'working' ? undefined : service.message,
      ...(this.#answersKept > 0 && sent === 0 ? { note: replayText(this.#answersKept) } : {}),
    };
  }

  /** What all threads hold in memory for their calls; full when one of them is. */
  holding(): Holding {
    const each = [...this.#holding.values()];
    return { bytes: each.reduce((sum, { bytes }) => sum + bytes, 0), isFull: each.some(({ isFull }) => isFull) };
  }

  #t(): number {
    return this.#options.clock.monotonic() - this.#beganMs;
  }

  /** Keeps what happened since the last look. */
  #addSpan(): void {
    const { t, ids, sent, answered } = this.#seen;
    this.#seen = { ...this.#fold.work, t: this.#t() };
    if (this.#seen.sent === sent && this.#seen.answered === answered) return;
    const last = this.#spans.at(-1);
    const span = last !== undefined && last.ms < spanMs ? last : { t, ms: 0, ids: 0, sent: 0 };
    if (span !== last && this.#spans.push(span) > mostSpans) this.#spans.shift();
    span.ms = this.#seen.t - span.t;
    span.ids += this.#seen.ids - ids;
    span.sent += this.#seen.sent - sent;
  }

  #addPause({ kind, untilMs }: CallPause): void {
    const fromT = this.#spans[0]?.t ?? 0;
    const recent = this.#pauses.filter(({ untilT }) => untilT > fromT);
    this.#pauses = [...recent, { kind, t: this.#t(), untilT: untilMs - this.#beganMs }];
  }

  /** A pause ends with the first call after it, which may be before its time. */
  #endPause(): void {
    const t = this.#t();
    if (this.#pauses.some(({ untilT }) => untilT > t))
      this.#pauses = this.#pauses.map((pause) => ({ ...pause, untilT: Math.min(pause.untilT, t) }));
  }

  #pace(): Pace {
    const inFlight = this.#fold.inFlight() * this.#options.idsPerCall;
    return new Pace({ spans: this.#spans, pauses: this.#pauses, inFlight }, this.#t());
  }

  #isKnown(): boolean {
    return this.#fold.work.answered >= leastAnswers && this.#t() >= leastGuessMs;
  }

  #left(
    entries: number,
    pace: Pace,
    pause: CallPause | undefined,
    creditsLeft: number | undefined,
  ): TimeLeft | undefined {
    const { settled } = this.#fold;
    const asked = askedIds(settled);
    // Not every entry is an id to request.
    const ids = asked === 0 ? entries : Math.max(0, entries) * (asked / settled.read);
    const { budget, idsPerCall, clock } = this.#options;
    const workMs = pace.msFor(ids);
    if (workMs === undefined) return undefined;
    const waitingUntilMs = pause?.kind === 'waiting' ? pause.untilMs : undefined;
    return timeThroughBudget({ ...budget, workMs, ids, idsPerCall, creditsLeft, waitingUntilMs }, clock.now());
  }
}

export function replayText(answers: number): string {
  return `reading ${plural(answers, 'kept answer')}`;
}
