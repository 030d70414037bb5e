import type { IdList } from '../assets/id-list.ts';
import type { RecordPlan } from '../assets/scan/record-plan.ts';
import type { RecordRows } from '../assets/scan/record-rows.ts';
import type { AssetCall, AssetClient, AssetFlags, RecordsAnswer, RefusedAnswer } from './asset-client.ts';
import { Lookups, type NoRecord } from './lookups.ts';

export interface Batch {
  /** Unique and valid. */
  readonly ids: IdList;
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
  readonly lookups: Lookups;
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
  await search.askAll();
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

class Search {
  readonly #answers: RecordsAnswer[] = [];
  readonly #counts: OddCounts = { foreign: 0, repeated: 0, idless: 0, otherResponseId: 0 };
  readonly #client: AssetClient;
  readonly #batch: Batch;
  readonly #lookups: Lookups;

  constructor(client: AssetClient, batch: Batch) {
    this.#client = client;
    this.#batch = batch;
    this.#lookups = new Lookups(batch.ids.length);
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

  async askAll(): Promise<void> {
    const { ids } = this.#batch;
    if (ids.length > 0) await this.#ask({ ids, places: placesBelow(ids.length) });
  }

  async #ask(asked: Asked, namedInRow = 0): Promise<void> {
    const { ids, places } = asked;
    const answer = await this.#client.ask(this.#call('getAssets', ids));
    if (answer.kind === 'records') {
      this.#take(asked, answer);
      return;
    }
    if (places.length === 1) {
      this.#lookups.putRefused(places[0] ?? 0, refusedLookup(answer));
      return;
    }
    const named = namedInRow < maxNamedInRow ? namedIn(answer, ids) : -1;
    const place = places[named];
    if (place !== undefined) {
      await this.#ask(this.#asked(places.subarray(named, named + 1)));
      const rest = this.#asked(places.filter((each) => each !== place));
      await this.#ask(rest, this.#isBlameless(place) ? echoes : namedInRow + 1);
      return;
    }
    const middle = Math.ceil(places.length / 2);
    const inHalves = namedInRow === echoes ? echoes : 0;
    await allSettled([
      this.#ask(this.#asked(places.subarray(0, middle)), inHalves),
      this.#ask(this.#asked(places.subarray(middle)), inHalves),
    ]);
  }

  #asked(places: Uint32Array): Asked {
    return { ids: this.#batch.ids.pick(places), places };
  }

  /** Whether the call for this id alone went well. */
  #isBlameless(place: number): boolean {
    return this.#lookups.rows(place) !== undefined || this.#lookups.isOpen(place);
  }

  async askMissingAlone(): Promise<void> {
    const missing = placesBelow(this.#batch.ids.length).filter((place) => this.#lookups.at(place).kind === 'missing');
    await allSettled(
      Array.from(missing, async (place) => {
        const asked = this.#asked(Uint32Array.of(place));
        const answer = await this.#client.ask(this.#call('getAsset', asked.ids));
        if (answer.kind === 'records') this.#take(asked, answer);
        else this.#lookups.putRefused(place, refusedLookup(answer));
      }),
    );
  }

  #call(method: AssetCall['method'], ids: IdList): AssetCall {
    const { flags, part, plan } = this.#batch;
    return { method, ids, flags, part, plan };
  }

  #take(asked: Asked, answer: RecordsAnswer): void {
    this.#answers.push(answer);
    this.#counts.idless += answer.idless;
    if (answer.otherResponseId) this.#counts.otherResponseId += 1;
    if (answer.rows !== undefined) this.#match(asked, answer.rows);
  }

  // Nothing follows the loop: see "What does not help" in docs/performance.md.
  #match({ ids, places }: Asked, rows: RecordRows): void {
    // Most services answer in the order of the call; only where one does not are the ids put into a map.
    let next = 0;
    let known: ReadonlyMap<string, number> | undefined;
    for (let index = 0; index < rows.count; index += 1) {
      const at = known === undefined ? placeOf(rows, index, { ids, next }) : -1;
      if (at >= 0) {
        next = at + 1;
        this.#lookups.putFound(places[at] ?? 0, rows, index);
        continue;
      }
      known ??= new Map(Array.from(ids, (id, place) => [id, place]));
      const place = places[known.get(rows.id(index)) ?? -1];
      if (place === undefined) this.#counts.foreign += 1;
      else if (this.#lookups.isOpen(place)) this.#lookups.putFound(place, rows, index);
      else this.#counts.repeated += 1;
    }
  }
}

/** The ids of a call, and their places in the batch. */
interface Asked {
  readonly ids: IdList;
  readonly places: Uint32Array;
}

function placesBelow(count: number): Uint32Array {
  const places = new Uint32Array(count);
  for (let place = 0; place < count; place += 1) places[place] = place;
  return places;
}

interface Awaited {
  readonly ids: IdList;
  readonly next: number;
}

/** Where a record's id stands among those asked for, from `next` on; -1 when it does not. Mostly next: no string is made then. */
function placeOf(rows: RecordRows, index: number, { ids, next }: Awaited): number {
  return rows.hasId(index, ids, next) ? next : ids.indexOf(rows.id(index), next);
}

function refusedLookup(answer: RefusedAnswer): NoRecord {
  return { kind: answer.why === 'notFound' ? 'missing' : 'failed', reason: answer.message };
}

/** The place in a call of the one id that the service's words name; -1 when they name none or several. */
function namedIn(answer: RefusedAnswer, ids: IdList): number {
  if (answer.why === 'size' || answer.doubtful) return -1;
  const words = new Set(answer.message.match(/[1-9A-HJ-NP-Za-km-z]{32,44}/g));
  const named = [...words].map((word) => ids.indexOf(word)).filter((place) => place >= 0);
  return named.length === 1 ? (named[0] ?? -1) : -1;
}

/** Waits for all before it fails: what the others bring is kept. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
}
