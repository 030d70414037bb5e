import { CheckedId } from '../ids/checked-id.ts';
import { wordsPerHash } from '../lib/hash-128.ts';
import { KeyTable } from './key-table.ts';

/** What an id is in the base. */
export const baseFates = ['row', 'missing', 'failed'] as const;
export type BaseFate = (typeof baseFates)[number];

/** What was found out of an id of the base in this export, as bits. */
export const marks = {
  /** It is among the ids. */
  listed: 1,
  /** It is requested. */
  asked: 2,
  /** It is fresh and requested all the same, to measure how many fresh rows are out of date. */
  sampled: 4,
  /** It was chosen by lot among others that are as overdue. */
  tied: 8,
  /** It is stale, or missing for long enough, and not requested: the limit was reached. */
  overdue: 16,
} as const;

const mostTimes = 65_536;

/**
 * The ids of a base, 27 bytes each. A number each holds the time at which it was requested (16 bits), its class (6), its fate
 * (2) and its marks (8).
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

  /** Adds an id of the base. What is no id is left out: it cannot be among the ids of an export. */
  add(id: string, { fate, timeMs, assetClass }: { fate: BaseFate; timeMs: number; assetClass: number }): void {
    const row = fate === 'row' ? this.rows : 0;
    if (fate === 'row') this.rows += 1;
    if (!this.#id.readText(id)) return;
    this.#id.hashTo(this.#hash, 0);
    const slot = this.table.add(this.#hash, 0);
    this.table.values[slot] =
      ((this.#indexOf(timeMs) << 16) | (assetClass << 10) | (baseFates.indexOf(fate) << 8)) >>> 0;
    this.table.rows[slot] = row;
  }

  /** The slot of an id; -1 when the base does not know it. */
  slotOf(id: string): number {
    if (!this.#id.readText(id)) return -1;
    this.#id.hashTo(this.#hash, 0);
    return this.table.find(this.#hash, 0);
  }

  timeMs(slot: number): number {
    return this.times[this.#value(slot) >>> 16] ?? 0;
  }

  /** The place of its time in `times`. */
  timeIndex(slot: number): number {
    return this.#value(slot) >>> 16;
  }

  assetClass(slot: number): number {
    return (this.#value(slot) >>> 10) & 63;
  }

  fate(slot: number): BaseFate {
    return baseFates[(this.#value(slot) >>> 8) & 3] ?? 'failed';
  }

  /** The number of its row in the base, from 0. */
  row(slot: number): number {
    return this.table.rows[slot] ?? 0;
  }

  has(slot: number, mark: number): boolean {
    return (this.#value(slot) & mark) !== 0;
  }

  mark(slot: number, mark: number): void {
    this.table.values[slot] = this.#value(slot) | mark;
  }

  /** Takes a mark from all ids. */
  clear(mark: number): void {
    const { values } = this.table;
    for (let slot = 0; slot < values.length; slot += 1) values[slot] = (values[slot] ?? 0) & ~mark;
  }

  *slots(): Generator<number, void, void> {
    for (let slot = 0; slot < this.table.slots; slot += 1) if (this.table.isUsed(slot)) yield slot;
  }

  #value(slot: number): number {
    return this.table.values[slot] ?? 0;
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
