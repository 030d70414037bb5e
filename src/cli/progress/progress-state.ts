import { plural } from '../../lib/format-text.ts';
import { partsOfTotal, type TimeLeft, timeThroughBudget } from '../../core/run/record/run-figures.ts';
import { askedIds } from '../../core/run/record/runs-model.ts';
import { RunPace } from '../../core/run/record/run-pace.ts';
import { CreditsLeft } from '../../core/work/credits-left.ts';
import type { Holding } from '../../core/work/held-bytes.ts';
import type { RunEvent } from '../../core/work/run-events.ts';
import { type Hold, RunTotals } from '../../core/work/run-totals.ts';
import type { ProgressFacts } from './progress-text.ts';
import type { ProgressOptions } from './progress.ts';

/** What the progress block shows of a run. */
export class ProgressState {
  readonly #options: ProgressOptions;
  readonly #startMs: number;
  readonly #totals = new RunTotals();
  #idsFetched = 0;
  #answers = 0;
  /** Answers that earlier runs kept. */
  #answersKept = 0;
  #bytes = 0;
  #retries = 0;
  /** What each thread holds in memory for its calls. */
  readonly #holding = new Map<number, Holding>();
  #pace: RunPace | undefined;
  #lookMs: number;
  readonly #credits: CreditsLeft;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#startMs = this.#lookMs = options.clock.now();
    this.#credits = new CreditsLeft(options.budget, options.budget.bookedBefore, this.#startMs);
  }

  add(event: RunEvent): void {
    this.#totals.add(event);
    switch (event.kind) {
      case 'opened':
        this.#answersKept = event.answers;
        return;
      case 'sent':
        this.#pace ??= new RunPace(this.#options.clock.now());
        return;
      case 'answered':
        this.#answers += 1;
        this.#idsFetched += event.ids;
        this.#bytes += event.bytes;
        return;
      case 'retry':
        this.#retries += 1;
        return;
      case 'holding':
        this.#holding.set(event.thread, event);
    }
  }

  /** What to show now. Each look is a sample of the speed. */
  look(): ProgressFacts {
    const nowMs = this.#options.clock.now();
    const hold = this.#totals.holdAt(nowMs);
    this.#sample(nowMs, hold);
    const { sent, inFlight, parts, entriesCommitted, service } = this.#totals;
    const counts = this.#totals.counts();
    const { total, totalExact } = this.#totals.total();
    const creditsLeft = this.#credits.after(sent, nowMs);
    const left = total === undefined ? undefined : this.#left(total - counts.read, nowMs, hold, creditsLeft);
    const { exported, carried, missing, invalid, duplicate, failed } = counts;
    const seen = { rowsPerPart: this.#options.rowsPerPart, parts, read: entriesCommitted };
    return {
      nowMs,
      elapsedMs: nowMs - this.#startMs,
      done: counts.read,
      total,
      totalExact,
      fates: { exported, carried, missing, invalid, duplicate, failed },
      parts,
      partsTotal: total === undefined ? undefined : partsOfTotal({ total, ...seen }),
      idsPerSecond: this.#pace?.idsPerSecond() ?? 0,
      ...(left === undefined || this.#pace?.isKnown() !== true ? {} : { left }),
      calls: sent,
      callsInFlight: inFlight,
      retries: this.#retries,
      bytes: this.#bytes,
      credits: sent * this.#options.budget.creditsPerCall,
      creditsLeft,
      hold: hold === undefined ? undefined : { ...hold, moreDays: left?.moreDays ?? 0 },
      service: service.state === 'working' ? undefined : service.message,
      ...(this.#answersKept > 0 && sent === 0 ? { note: replayText(this.#answersKept) } : {}),
    };
  }

  /** What all threads hold in memory for their calls; full when one of them is. */
  holding(): Holding {
    const each = [...this.#holding.values()];
    return { bytes: each.reduce((sum, { bytes }) => sum + bytes, 0), isFull: each.some(({ isFull }) => isFull) };
  }

  #sample(nowMs: number, hold: Hold | undefined): void {
    const heldMs = nowMs - this.#lookMs;
    this.#pace?.look({
      nowMs,
      ids: this.#idsFetched,
      idsInFlight: this.#totals.inFlight * this.#options.idsPerCall,
      answers: this.#answers,
      pausedMs: hold?.kind === 'paused' ? heldMs : 0,
      waitedMs: hold?.kind === 'waiting' ? heldMs : 0,
    });
    this.#lookMs = nowMs;
  }

  #left(entries: number, nowMs: number, hold: Hold | undefined, creditsLeft: number | undefined): TimeLeft | undefined {
    const { settled } = this.#totals;
    const asked = askedIds(settled);
    // Not every entry is an id to request.
    const ids = asked === 0 ? entries : Math.max(0, entries) * (asked / settled.read);
    const isWaiting = hold?.kind === 'waiting';
    const pauseMs = hold === undefined || isWaiting ? 0 : hold.untilMs - nowMs;
    const isShown = isWaiting || this.#pace?.isKnown() === true;
    const workMs = isShown ? this.#pace?.timeLeft(ids, pauseMs) : undefined;
    if (workMs === undefined) return undefined;
    const { budget, idsPerCall } = this.#options;
    const waitingUntilMs = isWaiting ? hold.untilMs : undefined;
    return timeThroughBudget({ ...budget, workMs, ids, idsPerCall, creditsLeft, waitingUntilMs }, nowMs);
  }
}

export function replayText(answers: number): string {
  return `reading ${plural(answers, 'kept answer')}`;
}
