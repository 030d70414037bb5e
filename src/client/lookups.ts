import type { RecordRows } from '../assets/scan/record-rows.ts';

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

const notReturned: NoRecord = { kind: 'missing', reason: 'not in the answer' };

/** What became of the ids of a batch, by their place in it. As numbers, outside the heap: an object for each would be moved about. */
export class Lookups implements Iterable<Lookup> {
  readonly length: number;
  readonly #answers: RecordRows[] = [];
  /** Two numbers an id: which of the answers has its record, from 1 (0: none), and the record's place in it. */
  readonly #records: Uint32Array;
  /** Of ids that have no record; absent: no answer said anything of it. */
  readonly #refused = new Map<number, NoRecord>();

  constructor(length: number) {
    this.length = length;
    this.#records = new Uint32Array(2 * length);
  }

  putFound(place: number, rows: RecordRows, index: number): void {
    if (this.#answers.at(-1) !== rows) this.#answers.push(rows);
    this.#records[2 * place] = this.#answers.length;
    this.#records[2 * place + 1] = index;
  }

  putRefused(place: number, lookup: NoRecord): void {
    this.#refused.set(place, lookup);
  }

  /** Whether no answer has said anything of this id. */
  isOpen(place: number): boolean {
    return this.#records[2 * place] === 0 && !this.#refused.has(place);
  }

  /** The records that its own is among; undefined when it has none. */
  rows(place: number): RecordRows | undefined {
    return this.#answers[(this.#records[2 * place] ?? 0) - 1];
  }

  /** The place of its record among `rows(place)`. */
  index(place: number): number {
    return this.#records[2 * place + 1] ?? 0;
  }

  /** Why it has no record. */
  noRecord(place: number): NoRecord {
    return this.#refused.get(place) ?? notReturned;
  }

  at(place: number): Lookup {
    const rows = this.rows(place);
    return rows === undefined ? this.noRecord(place) : { kind: 'found', rows, index: this.index(place) };
  }

  *[Symbol.iterator](): Generator<Lookup, void, void> {
    for (let place = 0; place < this.length; place += 1) yield this.at(place);
  }
}
