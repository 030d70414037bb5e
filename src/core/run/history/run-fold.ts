import { type Counts, noCounts, sumOf } from '../../../places/export/export-facts.ts';
import type { RunEvent } from '../../work/run-events.ts';
import { callBounds, emptySpan, type LineOf, type OtherLine, type RunSpan, sumOfSpans } from './run-lines.ts';
import { accountFigures, type AccountFigures, askedIds, entriesExpected, fetchedNow } from './run-figures.ts';

/** Longest reason or error that is kept. */
const mostText = 160;

/** Why no call is sent for a while. */
export interface CallPause {
  readonly kind: 'paused' | 'waiting';
  readonly reason: string;
  /** Milliseconds since 1970 UTC. */
  readonly untilMs: number;
}

/**
 * The figures of one run: folded from its events while it works, or from the lines that these left in its history. What both know they give
 * alike, as an event is folded by its line.
 */
export class RunFold {
  /** The sum of its spans: calls, ids, bytes. */
  work: RunSpan = emptySpan(0);
  /** Attempts after the first of their call. */
  retries = 0;
  /** Committed parts: those of earlier runs too, where it heard of these. */
  parts = 0;
  /** What the client believes of the service, and why, in words: empty while the service works. */
  service: Pick<LineOf<'service'>, 'state' | 'message'> = { state: 'working', message: '' };
  /** Entries that are read at most, and bytes of all inputs. */
  limit: number | undefined;
  inputBytesTotal = 0;
  /** Of entries in batches that have all their answers in this run. */
  settled: Counts = noCounts;
  /** Of committed parts. */
  committed: Counts = noCounts;
  /** Of entries in parts of earlier runs. */
  #before: Counts = noCounts;
  /** Ids that earlier runs fetched and did not write. */
  #fetchedBefore: number;
  #pause: CallPause | undefined;

  /** @param fetchedBefore ids that earlier runs fetched and did not write; said when the export is open unless given */
  constructor(fetchedBefore = 0) {
    this.#fetchedBefore = fetchedBefore;
  }

  /** Takes an event of a run that works. */
  readonly add = (event: RunEvent): void => {
    const line = lineOf(event, { t: 0, nowMs: 0 });
    if (line !== undefined) this.addLine(line);
    switch (event.kind) {
      case 'opened':
        this.inputBytesTotal = event.inputBytes;
        this.limit = event.limit;
        this.parts = event.parts;
        this.#before = this.committed = event.counts;
        this.#fetchedBefore = event.fetched ?? this.#fetchedBefore;
        return;
      case 'sent':
        this.#pause = undefined;
        return;
      case 'service':
        this.service = event;
        return;
      case 'settled':
        this.settled = sumOf(this.settled, [event.counts]);
        return;
      case 'paused':
      case 'waiting':
        this.#pause = event;
        return;
      case 'committed':
        this.committed = sumOf(this.committed, [event.commit.counts]);
    }
  };

  /** Takes a line of the history. */
  addLine(line: OtherLine): void {
    switch (line.kind) {
      case 'span':
        this.work = sumOfSpans(this.work, line);
        return;
      case 'retry':
        this.retries += line.times ?? 1;
        return;
      case 'service':
        this.service = line;
        return;
      case 'committed':
        this.parts += line.times ?? 1;
    }
  }

  /** Of all entries whose fate is known. */
  counts(): Counts {
    return sumOf(this.#before, [this.settled]);
  }

  /** Calls that wait for their answer. */
  inFlight(): number {
    const { sent, answered, failed = 0 } = this.work;
    return Math.max(0, sent - answered - failed);
  }

  /** Ids whose answers are kept and lie in no committed part. */
  fetched(): number {
    const { replayed, ids } = this.work;
    const written = askedIds(this.committed) - askedIds(this.#before);
    return fetchedNow({ before: this.#fetchedBefore, replayed, ids, written });
  }

  /** The account of a run that works. */
  figures(creditsLeft: number | undefined): AccountFigures {
    return accountFigures({ counts: this.committed, read: this.work.read, fetched: this.fetched(), creditsLeft });
  }

  /** Undefined while calls are sent. */
  pauseAt(nowMs: number): CallPause | undefined {
    return this.#pause !== undefined && this.#pause.untilMs > nowMs ? this.#pause : undefined;
  }

  /** Entries of all inputs: known when they are read, estimated from their bytes before. */
  total(): ReturnType<typeof entriesExpected> {
    const { read, inputBytes } = this.work;
    return entriesExpected({ read, inputBytes, inputBytesTotal: this.inputBytesTotal, limit: this.limit });
  }
}

/** What an event leaves in the history; undefined where that is nothing. @param t milliseconds since the start of the run */
export function lineOf(
  event: RunEvent,
  { t, nowMs }: { readonly t: number; readonly nowMs: number },
): OtherLine | undefined {
  const span = (of: Partial<RunSpan>): RunSpan => ({ ...emptySpan(t), ...of });
  switch (event.kind) {
    case 'read':
      return span({ read: event.entries, inputBytes: event.inputBytes });
    case 'sent':
      return span({ sent: 1 });
    case 'answered': {
      const { ids, bytes, ms } = event;
      const bound = String(callBounds.find((seconds) => ms <= seconds * 1000) ?? '+Inf');
      return span({ answered: 1, ids, bytes, callMs: { [bound]: 1 }, tookMs: ms, longestMs: ms });
    }
    case 'failed':
      return span({ failed: 1 });
    case 'limit':
      return span({ callsAtOnce: event.calls });
    case 'replayed':
      return span({ replayed: event.ids });
    case 'paused':
    case 'waiting': {
      const { kind, untilMs } = event;
      return { kind, t, untilMs, heldMs: Math.max(0, untilMs - nowMs), reason: boundedText(event.reason) };
    }
    case 'retry':
      return { kind: 'retry', t, reason: boundedText(event.reason), attempt: event.attempt };
    case 'service':
      return { kind: 'service', t, state: event.state, message: boundedText(event.message) };
    case 'committed': {
      const { part, counts } = event.commit;
      return { kind: 'committed', t, part, read: counts.read, exported: counts.exported };
    }
  }
  return undefined;
}

/** A text in the history, which is bounded. */
export function boundedText(text: string): string {
  return text.length <= mostText ? text : `${text.slice(0, mostText - 1)}…`;
}
