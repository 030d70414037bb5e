import type { ServiceState } from '../client/client-events.ts';
import { type Counts, noCounts, sumOf } from '../../places/export/export-facts.ts';
import {
  accountFigures,
  type AccountFigures,
  askedIds,
  entriesExpected,
  fetchedNow,
} from '../run/history/runs-model.ts';
import type { RunEvent } from './run-events.ts';

/** Why no call is sent for a while. */
export interface Hold {
  readonly kind: 'paused' | 'waiting';
  readonly reason: string;
  /** Milliseconds since 1970 UTC. */
  readonly untilMs: number;
}

/** What is known of a run, summed from its events. */
export class RunTotals {
  /** Of entries in parts of earlier runs. */
  before: Counts = noCounts;
  /** Of entries in batches that have all their answers in this run. */
  settled: Counts = noCounts;
  /** Entries and bytes of the inputs that were read so far. */
  read = 0;
  inputBytes = 0;
  inputBytesTotal = 0;
  /** Entries that are read at most. */
  limit: number | undefined;
  /** Calls, of which some wait for their answer. */
  sent = 0;
  inFlight = 0;
  /** Calls that were answered, the ids of their answers, and bytes as they came, decoded. */
  answers = 0;
  ids = 0;
  bytes = 0;
  /** Committed parts, and entries in them. */
  parts = 0;
  entriesCommitted = 0;
  /** What the client believes of the service, and why, in words. */
  service: { readonly state: ServiceState; readonly message: string } = { state: 'working', message: '' };
  /** Calls in flight that are let out, where the run finds their number. */
  callsAtOnce: number | undefined;
  /** Attempts after the first of their call. */
  retries = 0;
  #hold: Hold | undefined;
  /** See `fetchedNow`. */
  #fetchedBefore: number;
  #replayed = 0;
  #written = 0;
  /** Of committed parts. */
  committed: Counts = noCounts;

  /** @param fetchedBefore ids that earlier runs fetched and did not write; said when the export is open unless given */
  constructor(fetchedBefore = 0) {
    this.#fetchedBefore = fetchedBefore;
  }

  readonly add = (event: RunEvent): void => {
    switch (event.kind) {
      case 'opened':
        this.inputBytesTotal = event.inputBytes;
        this.limit = event.limit;
        this.parts = event.parts;
        this.before = this.committed = event.counts;
        this.#fetchedBefore = event.fetched ?? this.#fetchedBefore;
        this.entriesCommitted = event.counts.read;
        return;
      case 'read':
        this.read = event.entries;
        this.inputBytes = event.inputBytes;
        return;
      case 'sent':
        this.sent += 1;
        this.inFlight += 1;
        this.#hold = undefined;
        return;
      case 'limit':
        this.callsAtOnce = event.calls;
        return;
      case 'replayed':
        this.#replayed += event.ids;
        return;
      case 'retry':
        this.retries += 1;
        return;
      case 'answered':
        this.answers += 1;
        this.ids += event.ids;
        this.bytes += event.bytes;
        this.inFlight -= 1;
        return;
      case 'failed':
        this.inFlight -= 1;
        return;
      case 'settled':
        this.settled = sumOf(this.settled, [event.counts]);
        return;
      case 'paused':
      case 'waiting':
        this.#hold = event;
        return;
      case 'service':
        this.service = event;
        return;
      case 'committed':
        this.parts += 1;
        this.entriesCommitted += event.commit.counts.read;
        this.committed = sumOf(this.committed, [event.commit.counts]);
        this.#written += askedIds(event.commit.counts);
    }
  };

  /** Of all entries whose fate is known. */
  counts(): Counts {
    return sumOf(this.before, [this.settled]);
  }

  /** Ids whose answers are kept and lie in no committed part. */
  fetched(): number {
    const [before, replayed, written] = [this.#fetchedBefore, this.#replayed, this.#written];
    return fetchedNow({ before, replayed, ids: this.ids, written });
  }

  /** The account of a run that works. */
  figures(creditsLeft: number | undefined): AccountFigures {
    return accountFigures({ counts: this.committed, read: this.read, fetched: this.fetched(), creditsLeft });
  }

  /** Undefined while calls are sent. */
  holdAt(nowMs: number): Hold | undefined {
    return this.#hold !== undefined && this.#hold.untilMs > nowMs ? this.#hold : undefined;
  }

  /** Entries of all inputs: known when they are read, estimated from their bytes before. */
  total(): ReturnType<typeof entriesExpected> {
    return entriesExpected(this);
  }
}
