import type { IdList } from '../ids/id-list.ts';
import type {
  AssetAnswer,
  AssetCall,
  AssetClient,
  AssetFlags,
  ElementReader,
  OpenReader,
  RecordError,
  RecordsAnswer,
  RefusedAnswer,
} from './asset-client.ts';
import { type Asked, haveLeft, Lookups, namedIn, type NoRecord, type Seconds, sized } from './lookups.ts';

export interface LookUpRequest<Reader extends ElementReader = ElementReader> {
  /** Unique and valid. */
  readonly ids: IdList;
  readonly flags: AssetFlags;
  /** The part that the ids belong to. */
  readonly part: number;
  /**
   * With `showUnverifiedCollections`, which `getAssets` lacks: ask for ids that it did not return one by one with
   * `getAsset`. Each is a paid call.
   */
  readonly singles: boolean;
  /** What records become; undefined where only the calls matter: then every id counts as missing. */
  readonly reader: OpenReader<Reader> | undefined;
  /** Requests again what an answer lacks that is not believed; undefined: every answer is. */
  readonly seconds?: Seconds<Reader> | undefined;
  /** Its ids have left in this run before. */
  readonly repeats?: true | undefined;
  /** As in `AssetCall`. */
  readonly again?: number | undefined;
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

export interface BatchLookups<Reader = ElementReader> {
  /** In the order of the batch's ids. */
  readonly lookups: Lookups<Reader>;
  readonly counts: Readonly<OddCounts>;
  /** Gives the memory of the answers back: from then on no record of the lookups may be read. */
  readonly release: () => void;
}

/**
 * Finds out what became of every id of a batch. Records are matched by their id, never by position.
 * A call that is refused is split until the ids that spoil it stand alone.
 * @throws {ExportError} when the service cannot be asked, after all calls of the batch have ended.
 */
export async function lookUpBatch<Reader extends ElementReader>(
  client: AssetClient,
  batch: LookUpRequest<Reader>,
): Promise<BatchLookups<Reader>> {
  const search = new Search(client, batch);
  await (batch.seconds === undefined ? search.askAll() : batch.seconds.within(() => search.askAll()));
  if (batch.singles && batch.flags.showUnverifiedCollections) await search.askMissingAlone();
  return search.outcome();
}

/** The same for each id in a `getAsset` call of its own, which knows `showUnverifiedCollections`. */
export async function lookUpAlone<Reader extends ElementReader>(
  client: AssetClient,
  batch: Omit<LookUpRequest<Reader>, 'singles'>,
): Promise<BatchLookups<Reader>> {
  const search = new Search(client, { ...batch, singles: true });
  await search.askMissingAlone();
  return search.outcome();
}

/** After so many refusals that named their ids, one after another, a batch is halved: halves are asked side by side. */
const maxNamedInRow = 3;

/** In place of their number, once words named an id that was not to blame. It goes with the ids, so that a replay asks the same. */
const echoes = Number.POSITIVE_INFINITY;

/** Ids that an answer tells of those that it showed. */
const shownIds = 16;

class Search<Reader extends ElementReader> {
  readonly #answers: Partial<Pick<RecordsAnswer, 'records' | 'release'>>[] = [];
  readonly #counts: OddCounts = { foreign: 0, repeated: 0, idless: 0, otherResponseId: 0 };
  readonly #client: AssetClient;
  readonly #batch: LookUpRequest<Reader>;
  readonly #lookups: Lookups<Reader>;

  constructor(client: AssetClient, batch: LookUpRequest<Reader>) {
    this.#client = client;
    this.#batch = batch;
    this.#lookups = new Lookups(batch.ids.length);
  }

  outcome(): BatchLookups<Reader> {
    return {
      lookups: this.#lookups,
      counts: this.#counts,
      release: () => {
        for (const { records, release } of this.#answers.splice(0)) {
          records?.release();
          release?.();
        }
      },
    };
  }

  async askAll(): Promise<void> {
    const { ids, repeats } = this.#batch;
    if (ids.length > 0) await this.#ask({ ids, places: placesBelow(ids.length), repeats });
  }

  async #ask(asked: Asked, namedInRow = 0): Promise<void> {
    await this.#settle(asked, await this.#answerTo(asked), namedInRow);
  }

  #answerTo({ ids, pieceOf, repeats }: Asked): Promise<AssetAnswer> {
    return this.#client.ask({ ...this.#call('getAssets', ids), pieceOf, repeats });
  }

  async #settle(asked: Asked, answer: AssetAnswer, namedInRow: number): Promise<void> {
    const { ids, places } = asked;
    if (answer.kind === 'records') {
      const { foreign } = this.#counts;
      this.#take(asked, answer);
      await this.#weigh(asked, this.#counts.foreign - foreign);
      return;
    }
    if (places.length === 1) {
      this.#lookups.putRefused(places[0] ?? 0, refusedLookup(answer));
      return;
    }
    const named = namedInRow < maxNamedInRow ? namedIn(answer, ids) : -1;
    const place = places[named];
    const piece = { pieceOf: { isSuspected: answer.doubtful }, repeats: haveLeft(asked, answer) };
    if (place !== undefined) {
      await this.#ask(this.#asked(places.subarray(named, named + 1), piece));
      const rest = this.#asked(
        places.filter((each) => each !== place),
        piece,
      );
      await this.#ask(rest, this.#isBlameless(place) ? echoes : namedInRow + 1);
      return;
    }
    if (answer.most !== undefined) {
      await this.#inCallsOf(places, answer.most, piece.repeats);
      return;
    }
    if (answer.tries !== undefined) {
      await this.#tryOut(places, answer.tries, piece.repeats);
      return;
    }
    const middle = Math.ceil(places.length / 2);
    const inHalves = namedInRow === echoes ? echoes : 0;
    await allSettled([
      this.#ask(this.#asked(places.subarray(0, middle), piece), inHalves),
      this.#ask(this.#asked(places.subarray(middle), piece), inHalves),
    ]);
  }

  /** Requests again what the answer to a call lacks, where that is not believed. */
  async #weigh({ places }: Asked, foreign: number): Promise<void> {
    const { seconds, ids, part } = this.#batch;
    if (seconds === undefined) return;
    const lacking = places.filter((place) => this.#lookups.isOpen(place));
    const shown: string[] = [];
    for (const place of places) {
      if (shown.length === shownIds) break;
      if (this.#lookups.records(place) !== undefined) shown.push(ids.at(place));
    }
    const weighed = { asked: places.length, lacked: lacking.length, foreign, shown };
    const { lookups, release } = await seconds.settle(ids.pick(lacking), part, weighed);
    this.#answers.push({ release });
    for (const [n, place] of lacking.entries()) {
      const lookup = lookups[n];
      if (lookup?.kind === 'found') this.#lookups.putFound(place, lookup.records, lookup.index);
      else if (lookup?.kind === 'failed') this.#lookups.putRefused(place, lookup);
    }
  }

  /** Asks for ids in calls of the sizes that are tried, one after another, until the rest can go as the service takes it. */
  async #tryOut(places: Uint32Array, firstSize: number, repeats: true | undefined): Promise<void> {
    let size = firstSize;
    /** So many of the rest, from the first, have left in this run. */
    let left = repeats === true ? places.length : 0;
    for (let rest = places; rest.length > 0; ) {
      const asked = this.#asked(rest.subarray(0, size), sized(size <= left));
      const answer = await this.#answerTo(asked);
      if (haveLeft(asked, answer) === true) left = Math.max(left, size);
      if (answer.kind === 'refused' && answer.most !== undefined) {
        await this.#inCallsOf(rest, answer.most, rest.length <= left ? true : undefined);
        return;
      }
      // Refused for its size: its ids go back to the others.
      if (answer.kind === 'refused' && answer.tries !== undefined && size > 1) {
        size = Math.max(1, Math.min(answer.tries, size - 1));
        continue;
      }
      await this.#settle(asked, answer, 0);
      rest = rest.subarray(size);
      left = Math.max(0, left - size);
      // The whole rest: where it is too large, the refusal says which size to try next, and nothing is sent.
      size = rest.length;
    }
  }

  async #inCallsOf(places: Uint32Array, most: number, repeats: true | undefined): Promise<void> {
    const size = Math.max(1, most);
    const starts = Array.from({ length: Math.ceil(places.length / size) }, (_, call) => call * size);
    await allSettled(
      starts.map((start) => this.#ask(this.#asked(places.subarray(start, start + size), sized(repeats === true)))),
    );
  }

  #asked(places: Uint32Array, piece: Pick<Asked, 'pieceOf' | 'repeats'> = {}): Asked {
    return { ids: this.#batch.ids.pick(places), places, ...piece };
  }

  /** Whether the call for this id alone went well. */
  #isBlameless(place: number): boolean {
    return this.#lookups.records(place) !== undefined || this.#lookups.isOpen(place);
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
    const { flags, part, reader, again } = this.#batch;
    return { method, ids, flags, part, reader, again };
  }

  #take(asked: Asked, answer: RecordsAnswer): void {
    this.#answers.push(answer);
    this.#counts.idless += answer.idless;
    if (answer.otherResponseId) this.#counts.otherResponseId += 1;
    // The reader that the batch opened: policies hand answers on as they come.
    if (answer.records !== undefined) this.#match(asked, answer.records as Reader);
    for (const error of answer.errors) this.#takeError(asked, error);
    // One of these ids may be the id of a record that came without: which one is not known.
    if (answer.hasUnmatched)
      for (const place of asked.places) if (this.#lookups.isOpen(place)) this.#lookups.putRefused(place, unmatched);
  }

  #takeError({ ids, places }: Asked, { id, notFound, message }: RecordError): void {
    const place = places[ids.indexOf(id)];
    if (place === undefined) this.#counts.foreign += 1;
    else if (this.#lookups.isOpen(place))
      this.#lookups.putRefused(place, { kind: notFound ? 'missing' : 'failed', reason: message });
    else this.#counts.repeated += 1;
  }

  // Nothing follows the loop: see docs/decisions/0022-what-does-not-help.md.
  #match({ ids, places }: Asked, records: Reader): void {
    // Most services answer in the order of the call; only where one does not are the ids put into a map.
    let next = 0;
    let known: ReadonlyMap<string, number> | undefined;
    for (let index = 0; index < records.count; index += 1) {
      const at = known === undefined ? placeOf(records, index, ids, next) : -1;
      if (at >= 0) {
        next = at + 1;
        this.#lookups.putFound(places[at] ?? 0, records, index);
        continue;
      }
      known ??= new Map(Array.from(ids, (id, place) => [id, place]));
      const place = places[known.get(records.id(index)) ?? -1];
      if (place === undefined) this.#counts.foreign += 1;
      else if (this.#lookups.isOpen(place)) this.#lookups.putFound(place, records, index);
      else this.#counts.repeated += 1;
    }
  }
}

const unmatched: NoRecord = { kind: 'failed', reason: 'unmatched record: the answer contained a record without an id' };

function placesBelow(count: number): Uint32Array {
  const places = new Uint32Array(count);
  for (let place = 0; place < count; place += 1) places[place] = place;
  return places;
}

/** Where a record's id stands among those asked for, from `next` on; -1 when it does not. Mostly next: no string is made then. */
function placeOf(records: ElementReader, index: number, ids: IdList, next: number): number {
  return records.hasId(index, ids, next) ? next : ids.indexOf(records.id(index), next);
}

function refusedLookup(answer: RefusedAnswer): NoRecord {
  return { kind: answer.why === 'notFound' ? 'missing' : 'failed', reason: answer.message };
}

/** Waits for all before it fails: what the others bring is kept. */
async function allSettled(work: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(work)) if (each.status === 'rejected') throw each.reason;
}
