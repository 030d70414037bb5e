import type { BatchOrigins } from './batch-origins.ts';
import type { IdList } from '../ids/id-list.ts';
import type { RecordRows } from '../records/scan/record-rows.ts';
import type { AssetAnswer, AssetCall, AssetClient, AssetFlags, OpenReader } from '../client/asset-client.ts';
import { type BatchLookups, lookUpBatch } from '../client/look-up-batch.ts';
import { type AbsenceDesk, SecondAnswers } from '../client/second-answers.ts';
import type { AnswerJournal } from '../client/policies/with-journal.ts';
import type { Clock } from '../../lib/clock.ts';
import { mapOrdered } from '../../lib/map-ordered.ts';
import type { Batch } from '../ids/batch-ids.ts';
import { type Counts, noCounts } from '../../places/export/export-facts.ts';
import { HeldBytes, type Holding } from './held-bytes.ts';

/** A batch and what became of each of its ids. */
export interface FetchedBatch {
  readonly batch: Batch;
  /** Absent for a batch without ids. */
  readonly found: BatchLookups<RecordRows> | undefined;
  readonly counts: Counts;
  /** In an export with a base: where its rows come from. */
  readonly origins?: BatchOrigins | undefined;
  /** Gives the memory of both back: from then on neither may be read. */
  readonly release: () => void;
}

export interface FetchOptions {
  readonly client: AssetClient;
  /** Weighs what answers lack; undefined of answers that are known to be right. */
  readonly absence?: AbsenceDesk | undefined;
  /** That of the client. */
  readonly journal?: AnswerJournal | undefined;
  readonly idsPerCall: number;
  readonly flags: AssetFlags;
  readonly reader: OpenReader<RecordRows>;
  /** Whether ids that `getAssets` did not return may be requested one by one. */
  readonly singles: boolean;
  /** Most calls at once. */
  readonly concurrency: number;
  /** No batch begins, and no answer but those of the first in line is read, while entries and answers that are not written are more than this. */
  readonly mostBytes: number;
  readonly clock: Clock;
  readonly onHolding: (holding: Holding) => void;
  /** Where the rows of answered ids come from, in an export with a base. */
  readonly originsOf?: ((ids: IdList) => BatchOrigins | undefined) | undefined;
  /** Called when what became of each entry of a batch is known. */
  readonly onSettled: (counts: Counts) => void;
  /** Called when a batch fails or the consumer leaves: no new call should start. */
  readonly halt: (reason: unknown) => void;
}

/** Most batches that have their answers while another one is awaited. */
const mostBehind = 40;

/** Ends work whose result has no consumer any more. It is a consequence of the first failure, never the cause. */
export class NobodyWaits extends Error {
  constructor() {
    super('the export has stopped');
    this.name = 'NobodyWaits';
  }
}

/** Requests batches, several at once, and yields them in order. */
export async function* fetchBatches(
  batches: AsyncIterable<Batch>,
  options: FetchOptions,
): AsyncGenerator<FetchedBatch, void, void> {
  const { client, flags, reader, singles, concurrency, onHolding, onSettled, halt, originsOf } = options;
  const { absence: desk, journal } = options;
  const seconds = desk && journal && new SecondAnswers({ ...options, desk, journal });
  const held = new HeldBytes({ ...options, onChange: onHolding });
  const settled = (looked: LookedUp): Counts => {
    const counts = countsOf(looked);
    onSettled(counts);
    return counts;
  };
  const fetched = mapOrdered(batches, {
    // More than calls, so that slots stay full while the first one is awaited.
    limit: Math.min(4 * (concurrency + 4), concurrency + mostBehind),
    hasRoom: () => held.hasRoom(),
    onLeft: () => {
      held.leave();
      halt(new NobodyWaits());
    },
    map: async (batch) => {
      const entryBytes = batch.entries.bytes;
      const place = held.begin(entryBytes);
      if (batch.ids.length === 0)
        return { batch, found: undefined, origins: undefined, bytes: entryBytes, counts: settled({ batch }) };
      const counted = new CountingClient(client, held, place);
      try {
        const found = await lookUpBatch(counted, { ids: batch.ids, flags, part: batch.part, singles, reader, seconds });
        const origins = originsOf?.(batch.ids);
        const counts = settled({ batch, found, origins });
        return { batch, found, origins, counts, bytes: entryBytes + counted.bytes };
      } catch (error) {
        halt(error);
        throw error;
      }
    },
  });
  for await (const { batch, found, origins, counts, bytes } of fetched) {
    const release = (): void => {
      found?.release();
      origins?.before.release();
      batch.entries.release();
    };
    yield { batch, found, origins, counts, release };
    // The consumer requests the next batch after it has written this one.
    held.written(bytes);
  }
}

type LookedUp = Pick<FetchedBatch, 'batch'> & Partial<Pick<FetchedBatch, 'found' | 'origins'>>;

// Nothing follows the loop: see docs/decisions/0022-what-does-not-help.md.
function countsOf({ batch: { entries }, found, origins }: LookedUp): Counts {
  const counts: Counts = { ...noCounts, read: entries.length };
  let place = 0;
  for (let index = 0; index < entries.length; index += 1) {
    const state = entries.state(index);
    if (state !== 'valid') counts[state] += 1;
    else {
      if (found === undefined || found.lookups.records(place) === undefined)
        counts[found?.lookups.noRecord(place).kind ?? 'failed'] += 1;
      else counts[origins?.carried[found.lookups.index(place)] === 1 ? 'carried' : 'exported'] += 1;
      place += 1;
    }
  }
  return counts;
}

/** Counts the bytes of the answers to a batch, which are read when there is room. */
class CountingClient implements AssetClient {
  bytes = 0;
  readonly #inner: AssetClient;
  readonly #held: HeldBytes;
  readonly #place: number;

  constructor(inner: AssetClient, held: HeldBytes, place: number) {
    this.#inner = inner;
    this.#held = held;
    this.#place = place;
  }

  async ask(call: AssetCall): Promise<AssetAnswer> {
    const reading = { place: this.#place, isRead: false };
    let bytes: number | undefined;
    try {
      const answer = await this.#inner.ask({ ...call, room: () => this.#held.room(reading) });
      if (answer.kind === 'records') bytes = answer.body.length;
      return answer;
    } finally {
      this.#held.over(reading, bytes);
      this.bytes += bytes ?? 0;
    }
  }
}
