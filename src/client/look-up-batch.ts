import type { RecordPlan } from '../assets/scan/record-plan.ts';
import type { RecordRows } from '../assets/scan/record-rows.ts';
import type { AssetCall, AssetClient, AssetFlags, RecordsAnswer, RefusedAnswer } from './asset-client.ts';

/** What became of one id. */
export type Lookup = Found | NoRecord;

export interface Found {
  readonly kind: 'found';
  /** The records of its answer, and its place among them. */
  readonly rows: RecordRows;
  readonly index: number;
}

export interface NoRecord {
  readonly kind: 'missing' | 'failed';
  readonly reason: string;
}

export interface Batch {
  /** Unique and valid. */
  readonly ids: readonly string[];
  readonly flags: AssetFlags;
  /** The last part that one of the ids belongs to. */
  readonly part: number;
  /**
   * With `showUnverifiedCollections`, which `getAssets` lacks: ask for ids that it did not return one by one with
   * `getAsset`. Each is a paid call.
   */
  readonly singles: boolean;
  /** How records become rows (see `AssetCall`). */
  readonly plan?: RecordPlan | undefined;
}

/** What the answers held that was not asked for: counted, never exported. */
export interface OddCounts {
  /** Records of ids that the call did not ask for. */
  foreign: number;
  /** Records of an id that came already in the same answer. */
  repeated: number;
  /** Elements that are no record with an id. */
  idless: number;
  /** Answers with another JSON-RPC id than the call's. */
  otherResponseId: number;
}

export interface BatchLookups {
  /** In the order of the batch's ids. */
  readonly lookups: readonly Lookup[];
  readonly counts: Readonly<OddCounts>;
  /** Gives the memory of the answers back: from then on no record of the lookups may be read. */
  readonly release: () => void;
}

/**
 * Finds out what became of every id of a batch. Records are matched by their id, never by position.
 * A call that is refused is split until the ids that spoil it stand alone.
 * @throws {ExportError} when the service cannot be asked, after all calls of the batch have ended.
 */
export async function lookUpBatch(client: AssetClient, batch: Batch): Promise<BatchLookups> {
  const search = new Search(client, batch);
  await search.ask(batch.ids);
  if (batch.singles && batch.flags.showUnverifiedCollections) await search.askMissingAlone();
  return search.outcome();
}

/** The same for each id in a `getAsset` call of its own, which knows `showUnverifiedCollections`. */
export async function lookUpAlone(client: AssetClient, batch: Omit<Batch, 'singles'>): Promise<BatchLookups> {
  const search = new Search(client, { ...batch, singles: true });
  await search.askMissingAlone();
  return search.outcome();
}

/** After so many refusals that named their ids, one after another, a batch is halved: halves are asked side by side. */
const maxNamedInRow = 3;

/** In place of their number, once words named an id that was not to blame. It goes with the ids, so that a replay asks the same. */
const echoes = Number.POSITIVE_INFINITY;

const notReturned: Lookup = { kind: 'missing', reason: 'not in the answer' };

class Search {
  readonly #answers: RecordsAnswer[] = [];
  readonly #counts: OddCounts = { foreign: 0, repeated: 0, idless: 0, otherResponseId: 0 };
  readonly #client: AssetClient;
  readonly #batch: Batch;
  /** In the order of the batch's ids. */
  readonly #lookups: Lookup[];
  /** Where each id stands in the batch: made when it cannot be guessed. */
  #places: ReadonlyMap<string, number> | undefined;

  constructor(client: AssetClient, batch: Batch) {
    this.#client = client;
    this.#batch = batch;
    this.#lookups = batch.ids.map(() => notReturned);
  }

  outcome(): BatchLookups {
    return {
      lookups: this.#lookups,
      counts: this.#counts,
      release: () => {
        for (const { rows, release } of this.#answers.splice(0)) {
          rows?.release();
          release?.();
        }
      },
    };
  }

  async ask(ids: readonly string[], namedInRow = 0): Promise<void> {
    if (ids.length === 0) return;
    const answer = await this.#client.ask(this.#call('getAssets', ids));
    if (answer.kind === 'records') {
      this.#take(ids, answer);
      return;
    }
    const [only] = ids;
    if (ids.length === 1 && only !== undefined) {
      this.#put(only, refusedLookup(answer));
      return;
    }
    const named = namedInRow < maxNamedInRow ? namedIn(answer, ids) : undefined;
    if (named !== undefined) {
      await this.ask([named]);
      const rest = ids.filter((id) => id !== named);
      await this.ask(rest, this.#isBlameless(named) ? echoes : namedInRow + 1);
      return;
    }
    const middle = Math.ceil(ids.length / 2);
    const inHalves = namedInRow === echoes ? echoes : 0;
    await allSettled([this.ask(ids.slice(0, middle), inHalves), this.ask(ids.slice(middle), inHalves)]);
  }

  /** Whether the call for this id alone went well. */
  #isBlameless(id: string): boolean {
    const lookup = this.#lookups[this.#placeInBatch(id)];
    return lookup?.kind === 'found' || lookup === notReturned;
  }

  async askMissingAlone(): Promise<void> {
    const missing = this.#batch.ids.filter((_, place) => this.#lookups[place]?.kind === 'missing');
    await allSettled(
      missing.map(async (id) => {
        const answer = await this.#client.ask(this.#call('getAsset', [id]));
        if (answer.kind === 'records') this.#take([id], answer);
        else this.#put(id, refusedLookup(answer));
      }),
    );
  }

  #call(method: AssetCall['method'], ids: readonly string[]): AssetCall {
    const { flags, part, plan } = this.#batch;
    return { method, ids, flags, part, plan };
  }

  #take(asked: readonly string[], answer: RecordsAnswer): void {
    this.#answers.push(answer);
    this.#counts.idless += answer.idless;
    if (answer.otherResponseId) this.#counts.otherResponseId += 1;
    if (answer.rows !== undefined) this.#match(asked, answer.rows);
  }

  /** @param guess where the id may stand in the batch. */
  #put(id: string, lookup: Lookup, guess?: number): void {
    this.#lookups[this.#placeInBatch(id, guess)] = lookup;
  }

  #placeInBatch(id: string, guess = -1): number {
    const { ids } = this.#batch;
    if (ids[guess] === id) return guess;
    this.#places ??= new Map(ids.map((each, place) => [each, place]));
    const place = this.#places.get(id);
    if (place === undefined) throw new Error('an id is not in its batch');
    return place;
  }

  // Nothing follows the loop: see "What does not help" in docs/performance.md.
  #match(asked: readonly string[], rows: RecordRows): void {
    // Most services answer in the order of the call; only where one does not are the ids put into a set.
    let next = 0;
    let known: ReadonlySet<string> | undefined;
    for (let index = 0; index < rows.count; index += 1) {
      const place = known === undefined ? placeOf(rows, index, { asked, next }) : -1;
      const id = asked[place] ?? rows.id(index);
      if (place >= 0) {
        next = place + 1;
        this.#put(id, { kind: 'found', rows, index }, place);
        continue;
      }
      known ??= new Set(asked);
      if (!known.has(id)) this.#counts.foreign += 1;
      else if (this.#lookups[this.#placeInBatch(id)] !== notReturned) this.#counts.repeated += 1;
      else this.#put(id, { kind: 'found', rows, index });
    }
  }
}

interface Awaited {
  readonly asked: readonly string[];
  readonly next: number;
}

/** Where a record's id stands among those asked for, from `next` on; -1 when it does not. Mostly next: no string is made then. */
function placeOf(rows: RecordRows, index: number, { asked, next }: Awaited): number {
  const expected = asked[next];
  const isNext = expected !== undefined && rows.hasId(index, expected);
  return isNext ? next : asked.indexOf(rows.id(index), next);
}

function refusedLookup(answer: RefusedAnswer): NoRecord {
  return { kind: answer.why === 'notFound' ? 'missing' : 'failed', reason: answer.message };
}

/** The one id of a call that the service's words name; undefined when they name none or several. */
function namedIn(answer: RefusedAnswer, ids: readonly string[]): string | undefined {
  if (answer.why === 'size' || answer.doubtful) return undefined;
  const words = new Set(answer.message.match(/[1-9A-HJ-NP-Za-km-z]{32,44}/g));
  const named = ids.filter((id) => words.has(id));
  return named.length === 1 ? named[0] : undefined;
}

/** Waits for all before it fails: what the others bring is kept. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
}
