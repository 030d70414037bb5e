import type { AssetAnswer, ElementReader, PieceOf, RefusedAnswer } from './asset-client.ts';
import type { WeighedCall } from './judgement/absence.ts';
import type { IdList } from '../ids/id-list.ts';

/** What became of one id. */
export type Lookup<Reader = ElementReader> = Found<Reader> | NoRecord;

export interface Found<Reader = ElementReader> {
  readonly kind: 'found';
  /** The records of its answer, and its place among them. */
  readonly records: Reader;
  readonly index: number;
}

export interface NoRecord {
  readonly kind: 'missing' | 'failed';
  readonly reason: string;
}

export const notReturned: NoRecord = { kind: 'missing', reason: 'not in the answer' };

/** What became of the ids of a batch, by their place in it. As numbers, outside the heap: an object for each would be moved about. */
export class Lookups<Reader = ElementReader> implements Iterable<Lookup<Reader>> {
  readonly length: number;
  readonly #answers: Reader[] = [];
  /** Two numbers an id: which of the answers has its record, from 1 (0: none), and the record's place in it. */
  readonly #places: Uint32Array;
  /** Of ids that have no record; absent: no answer said anything of it. */
  readonly #refused = new Map<number, NoRecord>();

  constructor(length: number) {
    this.length = length;
    this.#places = new Uint32Array(2 * length);
  }

  putFound(place: number, records: Reader, index: number): void {
    if (this.#answers.at(-1) !== records) this.#answers.push(records);
    this.#places[2 * place] = this.#answers.length;
    this.#places[2 * place + 1] = index;
  }

  putRefused(place: number, lookup: NoRecord): void {
    this.#refused.set(place, lookup);
  }

  /** Whether no answer has said anything of this id. */
  isOpen(place: number): boolean {
    return this.#places[2 * place] === 0 && !this.#refused.has(place);
  }

  /** The records that its own is among; undefined when it has none. */
  records(place: number): Reader | undefined {
    return this.#answers[(this.#places[2 * place] ?? 0) - 1];
  }

  /** The place of its record among `records(place)`. */
  index(place: number): number {
    return this.#places[2 * place + 1] ?? 0;
  }

  /** Why it has no record. */
  noRecord(place: number): NoRecord {
    return this.#refused.get(place) ?? notReturned;
  }

  at(place: number): Lookup<Reader> {
    const records = this.records(place);
    return records === undefined ? this.noRecord(place) : { kind: 'found', records, index: this.index(place) };
  }

  *[Symbol.iterator](): Generator<Lookup<Reader>, void, void> {
    for (let place = 0; place < this.length; place += 1) yield this.at(place);
  }
}

/** What became of the ids that a call lacked, in their order. */
export interface SecondLookups<Reader> {
  readonly lookups: readonly Lookup<Reader>[];
  readonly release: () => void;
}

/** Requests again what answers lack, where that is not believed. */
export interface Seconds<Reader> {
  /** Runs the lookup of a batch, which may wait for others here. */
  within<T>(work: () => Promise<T>): Promise<T>;
  /** What becomes of the ids that a call lacked. */
  settle(ids: IdList, part: number, call: WeighedCall): Promise<SecondLookups<Reader>>;
}

/** The ids of a call, and their places in the batch. */
export interface Asked {
  readonly ids: IdList;
  readonly places: Uint32Array;
  readonly pieceOf?: PieceOf | undefined;
  /** They have left in this run before. */
  readonly repeats?: true | undefined;
}

/** Whether the ids of a refused call have left in this run: those of a kept refusal left in an earlier one. */
export function haveLeft({ repeats }: Asked, answer: AssetAnswer): true | undefined {
  const isSent = answer.kind === 'refused' && answer.unsent !== true && answer.replayed !== true;
  return isSent ? true : repeats;
}

/** A piece of a call that was refused for its size. */
export function sized(repeats: boolean): Pick<Asked, 'pieceOf' | 'repeats'> {
  return { pieceOf: { isSuspected: false }, repeats: repeats ? true : undefined };
}

/** The place in a call of the one id that the service's words name; -1 when they name none or several. */
export function namedIn(answer: RefusedAnswer, ids: IdList): number {
  if (answer.why === 'size' || answer.doubtful) return -1;
  const words = new Set(answer.message.match(/[1-9A-HJ-NP-Za-km-z]{32,44}/g));
  const named = [...words].map((word) => ids.indexOf(word)).filter((place) => place >= 0);
  return named.length === 1 ? (named[0] ?? -1) : -1;
}
