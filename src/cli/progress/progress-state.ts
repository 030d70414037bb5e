import { plural } from '../../lib/format-text.ts';
import { askedIds, partsOfTotal, type TimeLeft, timeThroughBudget } from '../../operations/run-figures.ts';
import { RunPace } from '../../operations/run-pace.ts';
import { type Counts, noCounts, sumOf } from '../../store/export-facts.ts';
import { CreditsLeft } from '../../work/credits-left.ts';
import type { Holding } from '../../work/held-bytes.ts';
import type { RunEvent } from '../../work/run-events.ts';
import type { ProgressFacts } from './progress-text.ts';
import type { ProgressOptions } from './progress.ts';

interface Hold {
  readonly kind: 'paused' | 'waiting';
  readonly reason: string;
  /** Milliseconds since 1970 UTC. */
  readonly untilMs: number;
}

/** What is known of a run at a moment, summed from its events. */
export class ProgressState {
  readonly #options: ProgressOptions;
  readonly #startMs: number;
  /** Of entries whose fate is known: in parts of earlier runs, and in batches that have all their answers. */
  #before: Counts = noCounts;
  #settled: Counts = noCounts;
  #idsFetched = 0;
  #answers = 0;
  /** Answers that earlier runs kept. */
  #answersKept = 0;
  #entriesRead = 0;
  #inputBytes = 0;
  #inputBytesTotal = 0;
  #bytes = 0;
  #sent = 0;
  #inFlight = 0;
  #retries = 0;
  #parts = 0;
  #entriesCommitted = 0;
  /** What each thread holds in memory for its calls. */
  readonly #holding = new Map<number, Holding>();
  #hold: Hold | undefined;
  #pace: RunPace | undefined;
  #lookMs: number;
  readonly #credits: CreditsLeft;

  constructor(options: ProgressOptions) {
    this.#options = options;
    this.#startMs = this.#lookMs = options.clock.now();
    this.#credits = new CreditsLeft(options.budget, options.budget.bookedBefore, this.#startMs);
  }

  add(event: RunEvent): void {
    switch (event.kind) {
      case 'opened':
        this.#inputBytesTotal = event.inputBytes;
        this.#parts = event.parts;
        this.#answersKept = event.answers;
        this.#before = event.counts;
        this.#entriesCommitted = event.counts.read;
        return;
      case 'read':
        this.#entriesRead = event.entries;
        this.#inputBytes = event.inputBytes;
        return;
      case 'sent':
        this.#pace ??= new RunPace(this.#options.clock.now());
        this.#sent += 1;
        this.#inFlight += 1;
        this.#hold = undefined;
        return;
      case 'answered':
        this.#inFlight -= 1;
        this.#answers += 1;
        this.#idsFetched += event.ids;
        this.#bytes += event.bytes;
        return;
      case 'failed':
        this.#inFlight -= 1;
        return;
      case 'retry':
        this.#retries += 1;
        return;
      case 'settled':
        this.#settled = sumOf(this.#settled, [event.counts]);
        return;
      case 'paused':
      case 'waiting':
        this.#hold = event;
        return;
      case 'holding':
        this.#holding.set(event.thread, event);
        return;
      case 'committed':
        this.#parts += 1;
        this.#entriesCommitted += event.commit.counts.read;
    }
  }

  /** What to show now. Each look is a sample of the speed. */
  look(): ProgressFacts {
    const nowMs = this.#options.clock.now();
    const hold = this.#hold !== undefined && this.#hold.untilMs > nowMs ? this.#hold : undefined;
    this.#sample(nowMs, hold);
    const counts = sumOf(this.#before, [this.#settled]);
    const { total, totalExact } = this.#total();
    const creditsLeft = this.#credits.after(this.#sent, nowMs);
    const left = total === undefined ? undefined : this.#left(total - counts.read, { nowMs, hold, creditsLeft });
    const { exported, missing, invalid, duplicate, failed } = counts;
    const seen = { rowsPerPart: this.#options.rowsPerPart, parts: this.#parts, read: this.#entriesCommitted };
    return {
      nowMs,
      elapsedMs: nowMs - this.#startMs,
      done: counts.read,
      ...{ total, totalExact },
      fates: { exported, missing, invalid, duplicate, failed },
      parts: this.#parts,
      partsTotal: total === undefined ? undefined : partsOfTotal({ total, ...seen }),
      idsPerSecond: this.#pace?.idsPerSecond() ?? 0,
      ...(left === undefined || this.#pace?.isKnown() !== true ? {} : { left }),
      ...{ calls: this.#sent, callsInFlight: this.#inFlight, retries: this.#retries, bytes: this.#bytes },
      credits: this.#sent * this.#options.budget.creditsPerCall,
      creditsLeft,
      hold: hold === undefined ? undefined : { ...hold, moreDays: left?.moreDays ?? 0 },
      ...(this.#answersKept > 0 && this.#sent === 0 ? { note: replayText(this.#answersKept) } : {}),
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
      idsInFlight: this.#inFlight * this.#options.idsPerCall,
      answers: this.#answers,
      pausedMs: hold?.kind === 'paused' ? heldMs : 0,
      waitedMs: hold?.kind === 'waiting' ? heldMs : 0,
    });
    this.#lookMs = nowMs;
  }

  /** Entries of all inputs: known when they are read, estimated from their bytes before. */
  #total(): { total: number | undefined; totalExact: boolean } {
    const totalExact = this.#inputBytes > 0 && this.#inputBytes >= this.#inputBytesTotal;
    if (this.#entriesRead === 0 || this.#inputBytes === 0) return { total: undefined, totalExact };
    const perByte = this.#entriesRead / this.#inputBytes;
    return { total: totalExact ? this.#entriesRead : Math.round(perByte * this.#inputBytesTotal), totalExact };
  }

  #left(entries: number, { nowMs, hold, creditsLeft }: Look): TimeLeft | undefined {
    const asked = askedIds(this.#settled);
    // Not every entry is an id to request.
    const ids = asked === 0 ? entries : Math.max(0, entries) * (asked / this.#settled.read);
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

interface Look {
  readonly nowMs: number;
  readonly hold: Hold | undefined;
  readonly creditsLeft: number | undefined;
}

export function replayText(answers: number): string {
  return `reading ${plural(answers, 'kept answer')}`;
}
