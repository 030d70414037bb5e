import type { IdList } from '../../../core/ids/id-list.ts';
import { CheckedId } from '../../../lib/ids/asset-id.ts';
import { wordsPerHash } from '../../../lib/hash/hash-set-128.ts';
import { KeyTable } from '../../../lib/hash/key-table.ts';

/** What an id is in the base. */
export const baseFates = ['row', 'missing', 'failed'] as const;
export type BaseFate = (typeof baseFates)[number];

/** What was found out of an id of the base in this export, as bits. */
export const marks = {
  /** It is among the ids. */
  listed: 1,
  /** It is requested. */
  asked: 2,
  /** It is stale, or missing for long enough, and not requested: the limit was reached. */
  overdue: 4,
} as const;

/** The bit of every id of the base: an empty slot has none. */
const inBase = 128;

const mostTimes = 65_536;

/** The place of a kind's time in `BaseKeys.times`. */
export function timeIndexOf(kind: number): number {
  return kind >>> 8;
}

export function classOf(kind: number): number {
  return (kind >>> 2) & 63;
}

export function fateOf(kind: number): BaseFate {
  return baseFates[kind & 3] ?? 'failed';
}

/** An id of a base and what is known of it. */
export interface BaseKey {
  readonly id: string;
  readonly fate: BaseFate;
  /** When it was requested, in milliseconds since 1970. */
  readonly timeMs: number;
  readonly assetClass: number;
}

/**
 * The ids of a base, 27 bytes each. A number each holds the time at which it was requested (16 bits), its class (6), its fate
 * (2), that it is there (1) and its marks (7).
 */
export class BaseKeys {
  readonly table: KeyTable;
  /** In milliseconds since 1970. */
  readonly times: number[] = [];
  /** Rows of the base. */
  rows = 0;
  readonly #timeIndex = new Map<number, number>();
  readonly #id = new CheckedId();
  readonly #hash = new Uint32Array(wordsPerHash);

  constructor(keys: number) {
    this.table = new KeyTable(keys);
  }

  /** Adds ids of the base. What is no id is left out: it cannot be among the ids of an export. */
  addAll(keys: readonly BaseKey[]): void {
    const hashes = new Uint32Array(keys.length * wordsPerHash);
    const isId = keys.map(({ id }, index) => this.#hashTo(hashes, index * wordsPerHash, id));
    this.table.readAhead(hashes);
    for (const [index, { fate, timeMs, assetClass }] of keys.entries()) {
      const row = fate === 'row' ? this.rows : 0;
      if (fate === 'row') this.rows += 1;
      if (isId[index] !== true) continue;
      const slot = this.table.add(hashes, index * wordsPerHash);
      const time = this.#indexOf(timeMs) << 16;
      this.table.setValue(slot, time | (assetClass << 10) | (baseFates.indexOf(fate) << 8) | inBase);
      this.table.setRow(slot, row);
    }
  }

  /** The slot of an id; -1 when the base does not know it. */
  slotOf(id: string): number {
    return this.#hashTo(this.#hash, 0, id) ? this.table.find(this.#hash, 0) : -1;
  }

  /** The same for the id at a place of a list. */
  slotAt(ids: IdList, place: number): number {
    if (!ids.readAt(place, this.#id)) return -1;
    this.#id.hashTo(this.#hash, 0);
    return this.table.find(this.#hash, 0);
  }

  /** How many kinds there may be. */
  get kinds(): number {
    return this.times.length << 8;
  }

  /** What ids of one time, class and fate have in common. */
  kind(slot: number): number {
    return this.table.value(slot) >>> 8;
  }

  timeMs(slot: number): number {
    return this.times[timeIndexOf(this.kind(slot))] ?? 0;
  }

  assetClass(slot: number): number {
    return classOf(this.kind(slot));
  }

  fate(slot: number): BaseFate {
    return fateOf(this.kind(slot));
  }

  /** The number of its row in the base, from 0. */
  row(slot: number): number {
    return this.table.row(slot);
  }

  has(slot: number, mark: number): boolean {
    return (this.table.value(slot) & mark) !== 0;
  }

  mark(slot: number, mark: number): void {
    this.table.setValue(slot, this.table.value(slot) | mark);
  }

  /** Takes a mark from all ids. */
  clear(mark: number): void {
    for (const slot of this.slots()) this.table.setValue(slot, this.table.value(slot) & ~mark);
  }

  *slots(): Generator<number, void, void> {
    const { table } = this;
    for (let slot = 0; slot < table.slots; slot += 1) if ((table.value(slot) & inBase) !== 0) yield slot;
  }

  /** Puts the hash of an id into four words. False when the text is no id. */
  #hashTo(hashes: Uint32Array, at: number, id: string): boolean {
    if (!this.#id.readText(id)) return false;
    this.#id.hashTo(hashes, at);
    return true;
  }

  #indexOf(timeMs: number): number {
    const known = this.#timeIndex.get(timeMs);
    if (known !== undefined) return known;
    // Each is the start of an export: nobody has so many.
    if (this.times.length >= mostTimes) throw new RangeError('the rows of the base have too many different times');
    this.#timeIndex.set(timeMs, this.times.length);
    return this.times.push(timeMs) - 1;
  }
}
